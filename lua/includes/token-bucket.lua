-- Token bucket, the twin of libs/rate-limiter/src/algorithms/token-bucket.ts: same steps, same integers.
-- Limit: a = capacity (tokens), b/c = rate (b tokens per c seconds, which is b micro-tokens per c microseconds).
-- State, a hash: tokens (micro-tokens), ts (µs, when tokens was right), rate ("b/c", prices the time since ts),
-- rem (what of the last refill was less than a micro-token, in 1/c of it; left out while 0).
local MICRO = 1000000
local MAX_HELD_STEP_BACK = 1000000
local MAX_INTEGER = 9007199254740991

local token_bucket = {}

-- Microseconds until `missing` micro-tokens have flowed in at b tokens per c seconds.
local function flow_time(missing, remainder, b, c)
  if missing <= 0 then return 0 end
  local whole, rest = divide(missing, b)
  return whole * c + ceil_divide(rest * c - remainder, b)
end

-- The same from now on at the limit's rate; while a step back of time is held, nothing flows in.
local function time_to_refill(check, missing)
  if missing <= 0 then return 0 end
  return flow_time(missing, check.remainder, check.refill_tokens, check.refill_seconds) + check.ts - check.now
end

-- State or nil (a fresh bucket), and whether what stood there was damaged or of another type.
local function read(key)
  local raw = redis.pcall('HMGET', key, 'tokens', 'ts', 'rem', 'rate')
  if raw.err then
    if string.sub(raw.err, 1, 9) ~= 'WRONGTYPE' then redis.call('HMGET', key, 'tokens') end
    return nil, true
  end
  if not raw[1] and not raw[2] then return nil, false end
  local tokens, ts = stored_integer(raw[1], MAX_INTEGER), stored_integer(raw[2], MAX_INTEGER)
  if not tokens or not ts then return nil, true end
  return { tokens = tokens, ts = ts, remainder = stored_integer(raw[3], MAX_INTEGER) or 0, rate = raw[4] }, false
end

-- The rate that prices the time since ts: the one it was stored with.
local function priced_rate(check, state)
  if state.rate and state.rate ~= check.rate then
    local b, c = string.match(state.rate, '^(%d+)/(%d+)$')
    b, c = stored_integer(b, MAX_INTEGER), stored_integer(c, MAX_INTEGER)
    if b and c and b > 0 and c > 0 then return b, c end
  end
  return check.refill_tokens, check.refill_seconds
end

-- What flowed in since ts. Time that stepped back a little is held (ts stays); a ts far ahead is cut to now.
local function refill(check, state)
  local now, capacity = check.now, check.capacity
  local tokens, ts, remainder = math.min(state.tokens, capacity), state.ts, state.remainder
  local elapsed = now - ts
  if elapsed < -MAX_HELD_STEP_BACK then ts, check.restated = now, true end
  if elapsed > 0 then
    local b, c = priced_rate(check, state)
    if remainder >= c then remainder = 0 end
    if elapsed >= flow_time(capacity - tokens, remainder, b, c) then
      tokens, remainder = capacity, 0
    else
      local whole, rest = divide(elapsed, c)
      local part
      part, remainder = divide(rest * b + remainder, c)
      tokens = tokens + whole * b + part
    end
    ts = now
  end
  -- The remainder counts in parts of its rate: another rate starts without one.
  if state.rate ~= check.rate then remainder, check.restated = 0, true end
  if remainder >= check.refill_seconds then remainder = 0 end
  check.tokens, check.ts, check.remainder = tokens, ts, remainder
end

-- The check: verdict (0 refused, 1 admitted, 2 cost exceeds limit), wait in µs, and the bucket as of now.
function token_bucket.evaluate(key, a, b, c, cost, now)
  local check = {
    limit = tonumber(a), refill_tokens = tonumber(b), refill_seconds = tonumber(c), rate = b .. '/' .. c,
    cost = cost, now = now, wait = 0, restated = false,
  }
  check.capacity = check.limit * MICRO
  local state, damaged = read(key)
  check.stored, check.damaged = state, damaged
  if state then
    refill(check, state)
  else
    check.tokens, check.ts, check.remainder = check.capacity, now, 0
  end
  if cost > check.limit then
    check.verdict = 2
  elseif check.tokens >= cost * MICRO then
    check.verdict = 1
  else
    check.verdict = 0
    check.wait = time_to_refill(check, cost * MICRO - check.tokens)
  end
  return check
end

function token_bucket.charge(check)
  check.tokens = math.min(check.capacity, check.tokens - check.cost * MICRO)
end

-- Whole tokens left, and µs until the bucket is full.
function token_bucket.outlook(check)
  return (divide(check.tokens, MICRO)), time_to_refill(check, check.capacity - check.tokens)
end

-- The key lives until the bucket would be full, and one second more.
function token_bucket.write(key, check, reset)
  if check.damaged then redis.call('DEL', key) end
  local stored = check.stored
  if not stored or stored.rate ~= check.rate or stored.remainder ~= check.remainder then
    redis.call('HSET', key, 'tokens', check.tokens, 'ts', check.ts, 'rem', check.remainder, 'rate', check.rate)
  else
    redis.call('HSET', key, 'tokens', check.tokens, 'ts', check.ts)
  end
  redis.call('PEXPIRE', key, ceil_divide(reset, 1000) + 1000)
end
