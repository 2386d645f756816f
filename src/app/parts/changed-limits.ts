import type { Config } from '#app/config.ts';
import type { ChangedLimits } from '#exchange/slot-table.ts';

/** The limits of the table that the configuration changes. */
export function changedLimits({ bodies, answers, feeds }: Config['limits']): ChangedLimits {
  return { rooms: { 'live feed': feeds }, bytes: { body: bodies, answer: answers } };
}
