/** Exact integer arithmetic on doubles: every operand and result is an integer below 2^53. Twin of `lua/includes/integers.lua`. */

export const MICRO = 1_000_000;

/** The whole part of a / b, without the rounding of a floating-point division. */
export function quotient(a: number, b: number): number {
  return (a - (a % b)) / b;
}

export function ceilQuotient(a: number, b: number): number {
  const remainder = a % b;
  const whole = (a - remainder) / b;
  return remainder > 0 ? whole + 1 : whole;
}
