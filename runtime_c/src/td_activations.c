/* td_activations.c - activations of gates, plain C. */
#include "td_math.h"
#include "td_recurrent.h"

float td_act_sigmoid(float x, float alpha, float beta)
{
    (void)alpha;
    (void)beta;
    return td_sigmoidf(x);
}

float td_act_tanh(float x, float alpha, float beta)
{
    (void)alpha;
    (void)beta;
    return td_tanhf(x);
}

float td_act_relu(float x, float alpha, float beta)
{
    (void)alpha;
    (void)beta;
    return x < 0.0F ? 0.0F : x;
}

float td_act_affine(float x, float alpha, float beta)
{
    return alpha * x + beta;
}

float td_act_leaky_relu(float x, float alpha, float beta)
{
    (void)beta;
    return x < 0.0F ? alpha * x : x;
}

float td_act_thresholded_relu(float x, float alpha, float beta)
{
    (void)beta;
    return x < alpha ? 0.0F : x;
}

float td_act_scaled_tanh(float x, float alpha, float beta)
{
    return alpha * td_tanhf(beta * x);
}

float td_act_hard_sigmoid(float x, float alpha, float beta)
{
    const float y = alpha * x + beta;
    if (y > 1.0F) {
        return 1.0F;
    }
    return y < 0.0F ? 0.0F : y;
}

float td_act_elu(float x, float alpha, float beta)
{
    (void)beta;
    return x < 0.0F ? alpha * td_expm1f(x) : x;
}

float td_act_softsign(float x, float alpha, float beta)
{
    (void)alpha;
    (void)beta;
    return x / (1.0F + (x < 0.0F ? -x : x));
}

float td_act_softplus(float x, float alpha, float beta)
{
    (void)alpha;
    (void)beta;
    return (x > 0.0F ? x : 0.0F) + td_log1pf(td_expf(x < 0.0F ? x : -x));
}
