"""Groups laid out with room, and read back."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.cluster.averages import Members
from shoal.enforce.slots import members_in, with_room
from shoal.methods.groups import members_of
from support.pairwise import examples


@st.composite
def partitions(draw):
    """Labels without holes, some rows in no group."""
    labels = draw(st.lists(st.integers(-1, 4), max_size=24))
    kept = sorted(set(labels) - {-1})
    return np.array([kept.index(label) if label >= 0 else -1 for label in labels], dtype=np.int64)


@given(labels=st.lists(st.sampled_from([-1, 0, 1, 2, 65_534, 65_535, 65_536, 1 << 20]), max_size=24))
def test_rows_are_laid_out_in_the_order_of_labels_and_of_rows(labels):
    given = np.array(labels, dtype=np.int64)
    wanted = [row for label, row in sorted((label, row) for row, label in enumerate(labels)) if label >= 0]
    assert Members.of_labels(given).rows.tolist() == wanted


@settings(max_examples=examples(40), deadline=None)
@given(labels=partitions(), k=st.integers(1, 4), doubled=st.booleans())
def test_every_group_has_its_rows_and_its_room(labels, k, doubled):
    partition, members = with_room(labels, k, doubled=doubled), members_of(labels)
    n_groups = max(len(members), int((labels >= 0).sum()) // k)
    assert partition.label.tolist() == labels.tolist()
    assert len(partition.groups) == n_groups
    end = 0
    for group, one in enumerate(partition.groups):
        rows = members[group].tolist() if group < len(members) else []
        room = 2 * len(rows) + k if doubled else max(2 * k - 1, len(rows))
        assert one["begin"] == end
        assert one["end"] == end + room
        assert partition.members[end : end + one["size"]].tolist() == rows
        end += room
    assert len(partition.members) == end


@settings(max_examples=examples(40), deadline=None)
@given(labels=partitions(), k=st.integers(1, 4))
def test_members_are_the_same_however_they_are_found(labels, k):
    wanted = Members.of(members_of(labels))
    for found in (Members.of_labels(labels), members_in(with_room(labels, k))):
        assert found.rows.tolist() == wanted.rows.tolist()
        assert found.sizes.tolist() == wanted.sizes.tolist()
        assert found.owner.tolist() == wanted.owner.tolist()
