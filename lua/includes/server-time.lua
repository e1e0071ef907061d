-- The server's clock in whole microseconds. Call it once per script: before Redis 7.2 time goes on inside a script.
local function server_time()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000000 + tonumber(time[2])
end
