"""Cones of parameters (B1, B2) as exact polygons: half-planes whose normals are rational numbers."""

from fractions import Fraction

HALF_WIDTH = Fraction(2)  # of the square that is drawn


def clipped(polygon, normal):
    """The part of a convex polygon where normal . B >= 0, its corners exact."""
    side = [normal[0] * x + normal[1] * y for x, y in polygon]
    result = []
    for k, (x, y) in enumerate(polygon):
        u, v = polygon[k - 1]
        before, here = side[k - 1], side[k]
        if before * here < 0:  # the edge to this corner crosses the line
            s = before / (before - here)
            result.append((u + s * (x - u), v + s * (y - v)))
        if here >= 0:
            result.append((x, y))
    return result


def cone(normals):
    """The square cut by normal . B >= 0 for each of the normals."""
    a = HALF_WIDTH
    polygon = [(-a, -a), (a, -a), (a, a), (-a, a)]
    for normal in normals:
        polygon = clipped(polygon, normal)
    return polygon


def is_inside(point, normals):
    """Strictly: points on a border belong to no cone."""
    return all(normal[0] * point[0] + normal[1] * point[1] > 0 for normal in normals)


def opposite(normals):
    return [(-x, -y) for x, y in normals]
