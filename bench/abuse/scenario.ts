import type { Server } from '#bench/http-processes/processes.ts';
import type { Result } from '#bench/measure.ts';

/** Something that a caller with an ordinary key may try, and what it may cost the others. */
export interface AbuseScenario {
  /** The attack in a few words. */
  readonly title: string;
  /** Further variables of the service under attack. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Fills the service first; the probe does not look yet. */
  readonly prepare?: (service: Server) => Promise<void>;
  /** Sends the attack; resolves when the last answer is there. It may give figures of its own. */
  readonly attack: (service: Server) => Promise<ReadonlyArray<Result> | undefined>;
  /** The longest silence of `/healthz` that the attack may cause, in milliseconds; absent where none is promised. */
  readonly maxFreezeMs?: number;
  /** Memory of the service above idle, in bytes, that the attack may take; absent where none is promised. */
  readonly maxBytesAboveIdle?: number;
}
