--[[
  Admits or refuses one request by N limits: reads and evaluates all, then writes all or none.

  KEYS[i]   the bucket of check i; all in one slot
  ARGV[1]   notAfter, server time in µs: past it nothing is taken; 0 for no bound
  ARGV[2..] six for each check: kind, shadow ("1": reported, never refusing), cost (0: look only;
            below 0: give back so much, up to the limit), a, b, c (the limit,
            see the include of its kind)
  Returns   { now, status, and five for each check: verdict, remaining, wait, reset, healed }
            now in µs; status 0 refused, 1 admitted, 2 late (then nothing follows)
            verdict 0 refused, 1 admitted, 2 cost exceeds the limit; remaining in whole units, after the charge if there
            was one; wait and reset in µs; healed 1 where damaged or foreign state was found
  Complexity O(N)
]]
--- @include "includes/server-time"
--- @include "includes/integers"
--- @include "includes/token-bucket"

-- A new kind of limit joins here (and in libs/rate-limiter/src/algorithms/index.ts): evaluate, charge, outlook, write.
local kinds = { tb = token_bucket }
local FIELDS = 6

local not_after = tonumber(ARGV[1])
local now = server_time()
if not_after > 0 and now > not_after then return { now, 2 } end

local checks, admitted = {}, true
for i, key in ipairs(KEYS) do
  local at = 2 + (i - 1) * FIELDS
  local kind = kinds[ARGV[at]]
  if not kind then return redis.error_reply('ERR unknown kind of limit ' .. tostring(ARGV[at])) end
  local check = kind.evaluate(key, ARGV[at + 3], ARGV[at + 4], ARGV[at + 5], tonumber(ARGV[at + 2]), now)
  check.kind, checks[i] = kind, check
  if check.verdict ~= 1 and ARGV[at + 1] ~= '1' then admitted = false end
end

local reply = { now, admitted and 1 or 0 }
for i, check in ipairs(checks) do
  local kind, at = check.kind, #reply
  local charged = admitted and check.verdict == 1 and (check.cost > 0 or check.cost < 0 and check.stored)
  if charged then kind.charge(check) end
  local remaining, reset = kind.outlook(check)
  if charged or check.restated then kind.write(KEYS[i], check, reset) end
  reply[at + 1], reply[at + 2], reply[at + 3] = check.verdict, remaining, check.wait
  reply[at + 4], reply[at + 5] = reset, check.damaged and 1 or 0
end
return reply
