"""Average pooling, pixel by pixel."""

from __future__ import annotations

from tinydeploy.lower._contract import Call, Cost, LowerContext, Offer, Out, Params, ParamsArg, Rows
from tinydeploy.lower._linear import is_s8
from tinydeploy.lower._rows import split_row
from tinydeploy.lower._window import pad_tables, window_fields, window_plane
from tinydeploy.ops._op import clamp_limits
from tinydeploy.ops.average_pool2d import AveragePool2d

OPERATOR = "average_pool2d"
MAX_COUNT = 2**16  # positions whose mean the kernel's 24-bit inverse gets right


def offers(ctx: LowerContext) -> list[Offer]:
    """One offer for int8 with one sample and one scale."""
    op, sig = ctx.node.op, ctx.signature
    if not isinstance(op, AveragePool2d) or not is_s8(sig.inputs[0]) or sig.input(0).shape[0] != 1:
        return []
    if op.dilation != (1, 1) or op.kernel[0] * op.kernel[1] >= MAX_COUNT:
        return []
    plane = window_plane(ctx, op.kernel, (1, 1))
    zero_point = sig.input(0).zero_point
    low, high = clamp_limits(op.clamp, sig.outputs[0])
    pads = pad_tables(plane, zero_point)
    instructions = plane.out_height * plane.out_row * (plane.kernel[0] * (plane.kernel[1] * 4 + 6) + 20)
    return [
        Offer(
            kernel="average_pool2d_s8",
            call=Call(
                "td_average_pool2d_s8",
                (ParamsArg(), Rows(0), Out(0)),
                calls=plane.out_height,
                windows=((0, plane.window()),),
                out_row_bytes=(plane.out_row,),
            ),
            access=plane.access(split_row(plane.out_width, 1), reads_first=False),
            headers=("td_average_pool2d.h",),
            sources=("td_average_pool2d_s8.c",),
            tables=pads,
            params=Params(
                "td_average_pool2d_params",
                (
                    *window_fields(plane, zero_point),
                    ("pad", "pad" if pads else 0),
                    ("count_pad", int(op.count_include_pad)),
                    ("out_width", plane.out_width),
                    ("act_min", low),
                    ("act_max", high),
                ),
            ),
            cost=Cost(instructions, int(instructions * 1.4)),
        )
    ]
