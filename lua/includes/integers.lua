-- Exact integer arithmetic on doubles: every operand and result is an integer below 2^53.

-- a divided by b: quotient and remainder, without the rounding of a floating-point division.
local function divide(a, b)
  local remainder = math.fmod(a, b)
  return (a - remainder) / b, remainder
end

local function ceil_divide(a, b)
  local quotient, remainder = divide(a, b)
  if remainder > 0 then return quotient + 1 end
  return quotient
end

-- A stored field as an integer within 0..max, or nil where it is none (tonumber also takes "nan", "inf" and hex).
local function stored_integer(text, max)
  local number = text and tonumber(text)
  if number and number >= 0 and number <= max and number == math.floor(number) then return number end
  return nil
end
