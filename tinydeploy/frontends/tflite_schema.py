"""Numbers of the TFLite schema: builtin operators, element types and the fields of the options we read.

Source: tensorflow/compiler/mlir/lite/schema/schema.fbs, version 3c. Names and numbers only grow there.
"""

from __future__ import annotations

from tinydeploy.ir import Elem

_BUILTINS_TEXT = """
    ADD AVERAGE_POOL_2D CONCATENATION CONV_2D DEPTHWISE_CONV_2D DEPTH_TO_SPACE DEQUANTIZE EMBEDDING_LOOKUP FLOOR
    FULLY_CONNECTED HASHTABLE_LOOKUP L2_NORMALIZATION L2_POOL_2D LOCAL_RESPONSE_NORMALIZATION LOGISTIC
    LSH_PROJECTION LSTM MAX_POOL_2D MUL RELU RELU_N1_TO_1 RELU6 RESHAPE RESIZE_BILINEAR RNN SOFTMAX
    SPACE_TO_DEPTH SVDF TANH CONCAT_EMBEDDINGS SKIP_GRAM CALL CUSTOM EMBEDDING_LOOKUP_SPARSE PAD
    UNIDIRECTIONAL_SEQUENCE_RNN GATHER BATCH_TO_SPACE_ND SPACE_TO_BATCH_ND TRANSPOSE MEAN SUB DIV SQUEEZE
    UNIDIRECTIONAL_SEQUENCE_LSTM STRIDED_SLICE BIDIRECTIONAL_SEQUENCE_RNN EXP TOPK_V2 SPLIT LOG_SOFTMAX DELEGATE
    BIDIRECTIONAL_SEQUENCE_LSTM CAST PRELU MAXIMUM ARG_MAX MINIMUM LESS NEG PADV2 GREATER GREATER_EQUAL
    LESS_EQUAL SELECT SLICE SIN TRANSPOSE_CONV SPARSE_TO_DENSE TILE EXPAND_DIMS EQUAL NOT_EQUAL LOG SUM SQRT
    RSQRT SHAPE POW ARG_MIN FAKE_QUANT REDUCE_PROD REDUCE_MAX PACK LOGICAL_OR ONE_HOT LOGICAL_AND LOGICAL_NOT
    UNPACK REDUCE_MIN FLOOR_DIV REDUCE_ANY SQUARE ZEROS_LIKE FILL FLOOR_MOD RANGE RESIZE_NEAREST_NEIGHBOR
    LEAKY_RELU SQUARED_DIFFERENCE MIRROR_PAD ABS SPLIT_V UNIQUE CEIL REVERSE_V2 ADD_N GATHER_ND COS WHERE RANK
    ELU REVERSE_SEQUENCE MATRIX_DIAG QUANTIZE MATRIX_SET_DIAG ROUND HARD_SWISH IF WHILE NON_MAX_SUPPRESSION_V4
    NON_MAX_SUPPRESSION_V5 SCATTER_ND SELECT_V2 DENSIFY SEGMENT_SUM BATCH_MATMUL
    PLACEHOLDER_FOR_GREATER_OP_CODES CUMSUM CALL_ONCE BROADCAST_TO RFFT2D CONV_3D IMAG REAL COMPLEX_ABS
    HASHTABLE HASHTABLE_FIND HASHTABLE_IMPORT HASHTABLE_SIZE REDUCE_ALL CONV_3D_TRANSPOSE VAR_HANDLE
    READ_VARIABLE ASSIGN_VARIABLE BROADCAST_ARGS RANDOM_STANDARD_NORMAL BUCKETIZE RANDOM_UNIFORM MULTINOMIAL
    GELU DYNAMIC_UPDATE_SLICE RELU_0_TO_1 UNSORTED_SEGMENT_PROD UNSORTED_SEGMENT_MAX UNSORTED_SEGMENT_SUM ATAN2
    UNSORTED_SEGMENT_MIN SIGN BITCAST BITWISE_XOR RIGHT_SHIFT
"""
BUILTINS = tuple(_BUILTINS_TEXT.split())

_ELEMENT_NAMES_TEXT = """
    FLOAT32 FLOAT16 INT32 UINT8 INT64 STRING BOOL INT16 COMPLEX64 INT8 FLOAT64 COMPLEX128 UINT64 RESOURCE
    VARIANT UINT32 UINT16 INT4 BFLOAT16
"""
ELEMENT_NAMES = tuple(_ELEMENT_NAMES_TEXT.split())
ELEMENTS = {
    "FLOAT32": Elem.F32,
    "FLOAT16": Elem.F16,
    "FLOAT64": Elem.F64,
    "INT4": Elem.S4,
    "INT8": Elem.S8,
    "UINT8": Elem.U8,
    "INT16": Elem.S16,
    "UINT16": Elem.U16,
    "INT32": Elem.S32,
    "UINT32": Elem.U32,
    "INT64": Elem.S64,
    "UINT64": Elem.U64,
    "BOOL": Elem.BOOL,
}
ACTIVATIONS = ("NONE", "RELU", "RELU_N1_TO_1", "RELU6", "TANH", "SIGN_BIT")
PADDINGS = ("SAME", "VALID")

# Builtin options: number in the union, then (name, struct code or NumPy dtype of a vector, default) in field order.
_CONV = (("padding", "b", 0), ("stride_w", "i", 0), ("stride_h", "i", 0), ("activation", "b", 0))
_DILATION = (("dilation_w", "i", 1), ("dilation_h", "i", 1))
_POOL = (*_CONV[:3], ("filter_width", "i", 0), ("filter_height", "i", 0), ("activation", "b", 0))
_ACTIVATION = (("activation", "b", 0),)
OPTIONS: dict[str, tuple[int, tuple[tuple[str, str, float], ...]]] = {
    "CONV_2D": (1, (*_CONV, *_DILATION)),
    "DEPTHWISE_CONV_2D": (2, (*_CONV[:3], ("depth_multiplier", "i", 0), _CONV[3], *_DILATION)),
    "AVERAGE_POOL_2D": (5, _POOL),
    "MAX_POOL_2D": (5, _POOL),
    "FULLY_CONNECTED": (8, (*_ACTIVATION, ("weights_format", "b", 0), ("keep_num_dims", "?", 0))),
    "SOFTMAX": (9, (("beta", "f", 0.0),)),
    "CONCATENATION": (10, (("axis", "i", 0), ("activation", "b", 0))),
    "ADD": (11, (*_ACTIVATION, ("pot_scale_int16", "?", 1))),
    "RESHAPE": (17, (("new_shape", "<i4", 0),)),
    "MUL": (21, _ACTIVATION),
    "MEAN": (27, (("keep_dims", "?", 0),)),
    "SUB": (28, (*_ACTIVATION, ("pot_scale_int16", "?", 1))),
    "SQUEEZE": (30, (("squeeze_dims", "<i4", 0),)),
    "STRIDED_SLICE": (
        32,
        (
            ("begin_mask", "i", 0),
            ("end_mask", "i", 0),
            ("ellipsis_mask", "i", 0),
            ("new_axis_mask", "i", 0),
            ("shrink_axis_mask", "i", 0),
            ("offset", "?", 0),
        ),
    ),
    "SPLIT": (35, (("num_splits", "i", 0),)),
    "SPLIT_V": (79, (("num_splits", "i", 0),)),
    "PACK": (59, (("values_count", "i", 0), ("axis", "i", 0))),
    "UNPACK": (64, (("num", "i", 0), ("axis", "i", 0))),
    "SHAPE": (55, (("out_type", "b", 0),)),
}
