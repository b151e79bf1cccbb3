"""The shapes of releases: one object each, asked by whoever reads a release."""

from shoal.release.shapes.base import GENERALISED, Shape
from shoal.release.shapes.buckets import BucketTables
from shoal.release.shapes.generalised import ClassCells, InvariantClasses, TextCells, TypedCells
from shoal.release.shapes.records import RecordRows
from shoal.release.shapes.single_values import ClassCentres, SingleValues
from shoal.release.shapes.slices import SliceTables

SHAPES: dict[str, Shape] = {
    shape.name: shape
    for shape in (
        TextCells(), TypedCells(), ClassCells(), SingleValues(), ClassCentres(), InvariantClasses(), BucketTables(),
        SliceTables(), RecordRows(),
    )
}  # fmt: skip

__all__ = ["GENERALISED", "SHAPES", "Shape"]
