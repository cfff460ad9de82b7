"""Numbers of the TFLite schema: builtin operators, element types and the fields of every operator's options.

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
    UNSORTED_SEGMENT_MIN SIGN BITCAST BITWISE_XOR RIGHT_SHIFT STABLEHLO_LOGISTIC STABLEHLO_ADD STABLEHLO_DIVIDE
    STABLEHLO_MULTIPLY STABLEHLO_MAXIMUM STABLEHLO_RESHAPE STABLEHLO_CLAMP STABLEHLO_CONCATENATE
    STABLEHLO_BROADCAST_IN_DIM STABLEHLO_CONVOLUTION STABLEHLO_SLICE STABLEHLO_CUSTOM_CALL STABLEHLO_REDUCE
    STABLEHLO_ABS STABLEHLO_AND STABLEHLO_COSINE STABLEHLO_EXPONENTIAL STABLEHLO_FLOOR STABLEHLO_LOG
    STABLEHLO_MINIMUM STABLEHLO_NEGATE STABLEHLO_OR STABLEHLO_POWER STABLEHLO_REMAINDER STABLEHLO_RSQRT
    STABLEHLO_SELECT STABLEHLO_SUBTRACT STABLEHLO_TANH STABLEHLO_SCATTER STABLEHLO_COMPARE STABLEHLO_CONVERT
    STABLEHLO_DYNAMIC_SLICE STABLEHLO_DYNAMIC_UPDATE_SLICE STABLEHLO_PAD STABLEHLO_IOTA STABLEHLO_DOT_GENERAL
    STABLEHLO_REDUCE_WINDOW STABLEHLO_SORT STABLEHLO_WHILE STABLEHLO_GATHER STABLEHLO_TRANSPOSE DILATE
    STABLEHLO_RNG_BIT_GENERATOR REDUCE_WINDOW STABLEHLO_COMPOSITE STABLEHLO_SHIFT_LEFT STABLEHLO_CBRT
    STABLEHLO_CASE
"""
BUILTINS = tuple(_BUILTINS_TEXT.split())

_ELEMENT_NAMES_TEXT = """
    FLOAT32 FLOAT16 INT32 UINT8 INT64 STRING BOOL INT16 COMPLEX64 INT8 FLOAT64 COMPLEX128 UINT64 RESOURCE
    VARIANT UINT32 UINT16 INT4 BFLOAT16 INT2 UINT4 FLOAT8_E4M3FN FLOAT8_E5M2
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

# Builtin options, one line a table: its number in the union, the operators that use it, then the fields in the schema's
# order as name:code or name:code=default. A code is a struct code, "s" for a string, or a NumPy dtype for a vector.
_OPTIONS_TEXT = """
  1 CONV_2D padding:b stride_w:i stride_h:i activation:b dilation_w:i=1 dilation_h:i=1 bias_type:b
  2 DEPTHWISE_CONV_2D padding:b stride_w:i stride_h:i depth_multiplier:i activation:b dilation_w:i=1 dilation_h:i=1
  3 CONCAT_EMBEDDINGS num_channels:i num_columns:<i4 embedding_dim:<i4
  4 LSH_PROJECTION type:b
  5 AVERAGE_POOL_2D,MAX_POOL_2D,L2_POOL_2D padding:b stride_w:i stride_h:i filter_width:i filter_height:i activation:b
  6 SVDF rank:i activation:b asymmetric_quantize_inputs:?
  7 RNN activation:b asymmetric_quantize_inputs:?
  8 FULLY_CONNECTED activation:b weights_format:b keep_num_dims:? asymmetric_quantize_inputs:? bias_type:b
  9 SOFTMAX beta:f
 10 CONCATENATION axis:i activation:b
 11 ADD activation:b pot_scale_int16:?=1
 12 L2_NORMALIZATION activation:b
 13 LOCAL_RESPONSE_NORMALIZATION radius:i bias:f alpha:f beta:f
 14 LSTM activation:b cell_clip:f proj_clip:f kernel_type:b asymmetric_quantize_inputs:?
 15 RESIZE_BILINEAR old_height:i old_width:i align_corners:? half_pixel_centers:?
 16 CALL subgraph:I
 17 RESHAPE new_shape:<i4
 18 SKIP_GRAM ngram_size:i max_skip_size:i include_all_ngrams:?
 19 SPACE_TO_DEPTH block_size:i
 20 EMBEDDING_LOOKUP_SPARSE combiner:b
 21 MUL activation:b
 22 PAD
 23 GATHER axis:i batch_dims:i
 24 BATCH_TO_SPACE_ND
 25 SPACE_TO_BATCH_ND
 26 TRANSPOSE
 27 MEAN,SUM,REDUCE_PROD,REDUCE_MAX,REDUCE_MIN,REDUCE_ANY,REDUCE_ALL keep_dims:?
 28 SUB activation:b pot_scale_int16:?=1
 29 DIV activation:b
 30 SQUEEZE squeeze_dims:<i4
 31 UNIDIRECTIONAL_SEQUENCE_RNN time_major:? activation:b asymmetric_quantize_inputs:?
 32 STRIDED_SLICE begin_mask:i end_mask:i ellipsis_mask:i new_axis_mask:i shrink_axis_mask:i offset:?
 33 EXP
 34 TOPK_V2
 35 SPLIT num_splits:i
 36 LOG_SOFTMAX
 37 CAST in_type:b out_type:b
 38 DEQUANTIZE
 39 MAXIMUM,MINIMUM
 40 ARG_MAX output_type:b
 41 LESS
 42 NEG
 43 PADV2
 44 GREATER
 45 GREATER_EQUAL
 46 LESS_EQUAL
 47 SELECT
 48 SLICE
 49 TRANSPOSE_CONV padding:b stride_w:i stride_h:i activation:b bias_type:b
 50 SPARSE_TO_DENSE validate_indices:?
 51 TILE
 52 EXPAND_DIMS
 53 EQUAL
 54 NOT_EQUAL
 55 SHAPE out_type:b
 56 POW
 57 ARG_MIN output_type:b
 58 FAKE_QUANT min:f max:f num_bits:i narrow_range:?
 59 PACK values_count:i axis:i
 60 LOGICAL_OR
 61 ONE_HOT axis:i
 62 LOGICAL_AND
 63 LOGICAL_NOT
 64 UNPACK num:i axis:i
 65 FLOOR_DIV
 66 SQUARE
 67 ZEROS_LIKE
 68 FILL
 69 BIDIRECTIONAL_SEQUENCE_LSTM activation:b cell_clip:f proj_clip:f merge_outputs:? time_major:?=1
 70 BIDIRECTIONAL_SEQUENCE_RNN time_major:? activation:b merge_outputs:? asymmetric_quantize_inputs:?
 71 UNIDIRECTIONAL_SEQUENCE_LSTM activation:b cell_clip:f proj_clip:f time_major:?
    asymmetric_quantize_inputs:? diagonal_recurrent_tensors:?
 72 FLOOR_MOD
 73 RANGE
 74 RESIZE_NEAREST_NEIGHBOR align_corners:? half_pixel_centers:?
 75 LEAKY_RELU alpha:f
 76 SQUARED_DIFFERENCE
 77 MIRROR_PAD mode:b
 78 ABS
 79 SPLIT_V num_splits:i
 80 UNIQUE idx_out_type:b=2
 81 REVERSE_V2
 82 ADD_N
 83 GATHER_ND
 84 COS
 85 WHERE
 86 RANK
 87 REVERSE_SEQUENCE seq_dim:i batch_dim:i
 88 MATRIX_DIAG
 89 QUANTIZE
 90 MATRIX_SET_DIAG
 91 HARD_SWISH
 92 IF then_subgraph:i else_subgraph:i
 93 WHILE cond_subgraph:i body_subgraph:i
 94 DEPTH_TO_SPACE block_size:i
 95 NON_MAX_SUPPRESSION_V4
 96 NON_MAX_SUPPRESSION_V5
 97 SCATTER_ND
 98 SELECT_V2
 99 DENSIFY
100 SEGMENT_SUM
101 BATCH_MATMUL adj_x:? adj_y:? asymmetric_quantize_inputs:?
102 CUMSUM exclusive:? reverse:?
103 CALL_ONCE init_subgraph:i
104 BROADCAST_TO
105 RFFT2D
106 CONV_3D,CONV_3D_TRANSPOSE padding:b stride_d:i stride_w:i stride_h:i activation:b
    dilation_d:i=1 dilation_w:i=1 dilation_h:i=1
107 HASHTABLE table_id:i key_type:b value_type:b
108 HASHTABLE_FIND
109 HASHTABLE_IMPORT
110 HASHTABLE_SIZE
111 VAR_HANDLE container:s shared_name:s
112 READ_VARIABLE
113 ASSIGN_VARIABLE
114 RANDOM_STANDARD_NORMAL,RANDOM_UNIFORM,MULTINOMIAL seed:q seed2:q
115 BUCKETIZE boundaries:<f4
116 GELU approximate:?
117 DYNAMIC_UPDATE_SLICE
118 UNSORTED_SEGMENT_PROD
119 UNSORTED_SEGMENT_MAX
120 UNSORTED_SEGMENT_MIN
121 UNSORTED_SEGMENT_SUM
122 ATAN2
123 SIGN
124 BITCAST
125 BITWISE_XOR
126 RIGHT_SHIFT
"""
_OPTIONS2_TEXT = """
  1 STABLEHLO_CONCATENATE dimension:q
  2 STABLEHLO_BROADCAST_IN_DIM broadcast_dimensions:<i8
  3 STABLEHLO_SLICE start_indices:<i8 limit_indices:<i8 strides:<i8
  4 STABLEHLO_CONVOLUTION window_strides:<i8 padding:<i8 lhs_dilation:<i8 rhs_dilation:<i8 window_reversal:|u1
    input_batch_dimension:q input_feature_dimension:q input_spatial_dimensions:<i8 kernel_input_feature_dimension:q
    kernel_output_feature_dimension:q kernel_spatial_dimensions:<i8 output_batch_dimension:q
    output_feature_dimension:q output_spatial_dimensions:<i8 feature_group_count:q batch_group_count:q
    precision_config:<u4
  5 STABLEHLO_CUSTOM_CALL call_target_name:s has_side_effect:? backend_config:s api_version:i
  6 STABLEHLO_REDUCE dimensions:<i8 body_subgraph:i
  7 STABLEHLO_SCATTER indices_are_sorted:? update_window_dims:<i8 inserted_window_dims:<i8
    scatter_dims_to_operand_dims:<i8 index_vector_dim:q unique_indices:? update_subgraph:i
  8 STABLEHLO_COMPARE comparison_direction:I compare_type:I
  9 STABLEHLO_DYNAMIC_SLICE slice_sizes:<i8
 10 STABLEHLO_PAD edge_padding_low:<i8 edge_padding_high:<i8 interior_padding:<i8
 11 STABLEHLO_IOTA iota_dimension:q
 12 STABLEHLO_DOT_GENERAL lhs_batching:<i8 rhs_batching:<i8 lhs_contracting:<i8 rhs_contracting:<i8 precision_config:<u4
 13 STABLEHLO_REDUCE_WINDOW window_dimensions:<i8 window_strides:<i8 base_dilations:<i8 window_dilations:<i8 padding:<i8
    body_subgraph:i
 14 STABLEHLO_SORT dimension:q is_stable:? comparator_subgraph:i
 15 STABLEHLO_WHILE cond_subgraph:i body_subgraph:i
 16 STABLEHLO_GATHER offset_dims:<i8 collapsed_slice_dims:<i8 start_index_map:<i8 index_vector_dim:q slice_sizes:<i8
    indices_are_sorted:?
 17 STABLEHLO_TRANSPOSE permutation:<i8
 18 DILATE
 19 STABLEHLO_RNG_BIT_GENERATOR algorithm:b
 20 REDUCE_WINDOW reduce_function:i
 21 STABLEHLO_COMPOSITE name:s decomposition_subgraph:i composite_attributes:|u1 attributes_format:b version:i
 22 STABLEHLO_SHIFT_LEFT
 23 STABLEHLO_CASE branch_subgraphs:<i4
"""

Fields = tuple[tuple[str, str, float], ...]


def _options(text: str) -> dict[str, tuple[int, Fields]]:
    """Operator -> (number in the union, fields as (name, code, default)); a line that starts with a field goes on."""
    tables: dict[str, tuple[int, Fields]] = {}
    for line in text.strip().split("\n"):
        words = line.split()
        if words[0].isdigit():
            number, operators, words = int(words[0]), words[1].split(","), words[2:]
            tables |= dict.fromkeys(operators, (number, ()))
        fields = tuple(_field(word) for word in words)
        tables |= {operator: (number, tables[operator][1] + fields) for operator in operators}
    return tables


def _field(word: str) -> tuple[str, str, float]:
    name, _, rest = word.partition(":")
    code, _, default = rest.partition("=")
    return name, code, float(default or 0) if code == "f" else int(default or 0)


OPTIONS = _options(_OPTIONS_TEXT)  # fields of BuiltinOptions
OPTIONS2 = _options(_OPTIONS2_TEXT)  # fields of BuiltinOptions2
