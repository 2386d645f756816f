import type { Config } from '#app/config.ts';
import type { ByteLimits } from '#exchange/byte-budget.ts';
import { type ChangedLimits, maxLineBytesOf } from '#exchange/slot-table.ts';

/** The limits that the configuration changes. */
export function changedLimits(limits: Config['limits']): ChangedLimits {
  const { bodies, answers, spools, feeds, maxJsonBytes } = limits;
  const lines = linesLimits(bodies, maxLineBytesOf(maxJsonBytes));
  return {
    requests: { perMinute: limits.requestsPerMinute, factors: limits.limitFactors },
    batches: { 'batch call': { maxSlots: limits.batchCallsAtOnce } },
    rooms: { 'live feed': feeds },
    bytes: { body: bodies, answer: answers, spool: spools, 'batch line': lines },
  };
}

/** Lines have half of the room of bodies, and two lines of maximum length always fit. */
function linesLimits(bodies: ByteLimits, maxLineBytes: number): ByteLimits {
  return {
    maxBytesPerProject: Math.max(2 * maxLineBytes, bodies.maxBytesPerProject / 2),
    maxBytes: Math.max(2 * maxLineBytes, bodies.maxBytes / 2),
  };
}
