"""Structure of a generated folder; that it compiles is tested in tests/golden."""

import dataclasses
import json

import numpy as np
import pytest

from tests.unit.emit import fakes
from tinydeploy import emit, plan
from tinydeploy.errors import InternalError
from tinydeploy.ir import Elem, Type, Value
from tinydeploy.lower._contract import In, Out, Scratch, Table


def project(graph, lowered, runtime, **options):
    target = options.pop("target", fakes.TARGET)
    planned = plan.plan(graph, lowered, target)
    return emit.project(graph, planned, target=target, name=options.pop("name", "net"), runtime=runtime, **options)


def test_files_and_manifest(runtime):
    result = project(*fakes.small(), runtime, checked_against={"runtime": "litert", "version": "2"}, macs=100)
    assert sorted(result.content()) == [
        "CMakeLists.txt",
        "README.md",
        "manifest.json",
        "net.c",
        "net.h",
        "runtime/include/td_arch.h",
        "runtime/include/td_fake.h",
        "runtime/include/td_version.h",
        "runtime/src/td_fake.c",
    ]
    manifest = json.loads(result.content()["manifest.json"])
    keys = """name version source checked_against scheme cpu optimize requantize inputs outputs state_bytes arena_bytes
        arena_lower_bound_bytes weights_bytes macs macs_after_optimisation stack_bytes nodes pools warnings"""
    assert set(keys.split()) <= set(manifest)
    assert manifest["source"]["file"] == "small.onnx"
    assert manifest["macs"] == 100
    assert manifest["macs_after_optimisation"] == 72
    assert manifest["inputs"] == [
        {
            "name": "audio",
            "shape": [1, 4, 6, 1],
            "dtype": "int8",
            "scale": 0.5,
            "zero_point": -3,
            "c_name": "audio",
            "function": "net_input_0",
        }
    ]
    node = manifest["nodes"][0]
    assert {"name", "op", "scheme", "kernel", "macs", "weights_bytes", "arena_live_bytes", "function"} <= set(node)
    assert f"void {node['function']}(" in result.files["net.c"]
    assert manifest["files"] == sorted(result.content())


def test_output_is_the_same_in_every_byte(runtime):
    first, second = (project(*fakes.with_state(), runtime).content() for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    "hostile",
    ["*/ #error /*", "int", "a\n#error", "", "..", "ä/b", '"', "\\", "0", "%s", "{{ 7 * 7 }}", "$(x)"],
)
def test_hostile_names_stay_in_strings_of_the_manifest(runtime, hostile):
    graph, lowered = fakes.small(input_name=hostile + "1", output_name=hostile + "2")
    graph.name = hostile
    graph.nodes[0].name = hostile + "n"
    graph.source = dataclasses.replace(graph.source, file=hostile)
    result = project(graph, lowered, runtime, name=hostile)
    assert result.manifest["inputs"][0]["name"] == hostile + "1"
    for path, content in result.content().items():
        assert path.isascii()
        assert ".." not in path
        if path != "manifest.json":
            text = content.decode("ascii")
            assert "#error /*" not in text
            assert "\n#error\n" not in text
            assert "49" not in text.split("TINYDEPLOY_")[0]


def test_equal_names_get_functions_of_their_own(runtime):
    graph, lowered = fakes.small(input_name="a.b", output_name="out")
    graph.values["a/b"] = Value("a/b", Type((2,), Elem.S8, fakes.QUANT))
    graph.values["1"] = Value("1", Type((2,), Elem.F32))
    graph.inputs += ["a/b", "1"]
    result = project(graph, lowered, runtime)
    header = result.files["net.h"]
    assert [entry["c_name"] for entry in result.manifest["inputs"]] == ["a_b", "a_b_2", "t1"]
    assert "int8_t *net_input_a_b_2(net_ctx *c);" in header
    assert "float *net_input_2(net_ctx *c);" in header
    assert header.count("*net_input_1(") == 1
    assert "#define NET_INPUT_2_SCALE 1.0f" in header


def test_tables_of_equal_content_are_stored_once(runtime):
    graph, lowered = fakes.small()
    offer = lowered[0].offer
    twin = Table("again", "int8_t", np.array([1, -1, 2], np.int8))
    lowered[0] = dataclasses.replace(lowered[0], offer=dataclasses.replace(offer, tables=(*offer.tables, twin)))
    result = project(graph, lowered, runtime)
    assert "n0_filter_again" not in result.files["net.c"]
    assert result.manifest["weights_bytes"] == 3 + 8 + 6


def test_a_model_with_state_has_a_reset_and_others_have_none(runtime):
    keeper = project(*fakes.with_state(), runtime).files["net.h"]
    assert "void net_reset(net_ctx *c);" in keeper
    assert "uint8_t *state;" in keeper
    assert "#define NET_STATE_BYTES 24" in keeper
    small = project(*fakes.small(), runtime).files["net.h"]
    assert "reset" not in small
    assert "*state;" not in small
    assert "#define NET_STATE_BYTES 0" in small


def broken(offer, **changes):
    return dataclasses.replace(offer, **changes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"arguments": (In(1),)}, "not in RAM"),
        ({"arguments": (In(0), Scratch())}, "asks for no bytes"),
        ({"arguments": (Out(0),), "calls": 2, "out_row_bytes": (3,)}, None),
    ],
)
def test_a_wrong_call_is_a_bug_of_ours(runtime, change, message):
    graph, lowered = fakes.small()
    graph.nodes[1].inputs = ("filtered", "w")
    offer = lowered[1].offer
    access = dataclasses.replace(offer.access, reads=(*offer.access.reads, None))
    call = dataclasses.replace(offer.call, **change)
    lowered[1] = dataclasses.replace(lowered[1], offer=broken(offer, call=call, access=access))
    if message is None:
        assert "out0 + y * 3" in project(graph, lowered, runtime).files["net.c"]
    else:
        with pytest.raises(InternalError, match=message):
            project(graph, lowered, runtime)


def test_a_missing_kernel_file_is_a_bug_of_ours(runtime):
    (runtime / "src" / "td_fake.c").unlink()
    with pytest.raises(InternalError, match=r"td_fake\.c"):
        project(*fakes.small(), runtime)


def test_headers_are_found_through_includes(runtime):
    header = runtime / "include" / "td_fake.h"
    header.write_text(header.read_text().replace('#include "td_arch.h"', '#include "td_more.h"'))
    (runtime / "include" / "td_more.h").write_text('#include "td_arch.h"\n  #  include "td_fake.h"\n')
    (runtime / "include" / "td_unused.h").write_text("")
    result = project(*fakes.small(), runtime)
    assert "runtime/include/td_more.h" in result.files
    assert "runtime/include/td_unused.h" not in result.files


def test_only_dsp_and_mve_folders_check_the_core(runtime):
    for klass, cpu in (("plain", "cortex-m0"), ("dsp", "cortex-m4"), ("mve", "cortex-m55")):
        target = dataclasses.replace(fakes.TARGET, cpu_class=klass, cpu=cpu)
        text = project(*fakes.small(), runtime, target=target).files["net.c"]
        assert (f"generated for {cpu}" in text) == (klass != "plain")


def test_rows_of_one_value_are_parts_of_the_longest(runtime):
    graph, lowered = fakes.small()
    offer = lowered[0].offer
    longer = Table("longer", "int8_t", np.full(9, -3, np.int8), align=8)
    lowered[0] = dataclasses.replace(lowered[0], offer=dataclasses.replace(offer, tables=(*offer.tables, longer)))
    result = project(graph, lowered, runtime)
    assert "static const TD_ALIGN(8) int8_t net_same0[9]" in result.files["net.c"]
    assert "row >= 4 ? net_same0 : in0" in result.files["net.c"]
    assert result.manifest["weights_bytes"] == 3 + 8 + 9


def test_a_uniform_state_is_filled_and_another_is_copied(runtime):
    graph, lowered = fakes.with_state()
    assert "net_fill(c->state + 0, 253, 24);" in project(graph, lowered, runtime).files["net.c"]
    graph.states[0].initial = np.arange(24, dtype=np.int8).reshape(1, 4, 6, 1)
    text = project(graph, lowered, runtime).files["net.c"]
    assert "net_copy(c->state + 0, net_initial0, 24);" in text
    assert "_fill(" not in text
