import type { Server } from '#bench/http-processes/processes.ts';
import type { Result } from '#bench/measure.ts';

/** What the service needs beside it, such as a provider. */
export interface Surroundings {
  /** Further variables of the service. */
  readonly environment: Readonly<Record<string, string>>;
  readonly stop: () => Promise<void>;
}

/** An attack by a caller with an ordinary key, and the limits of its effect on others. */
export interface AbuseScenario {
  /** The attack in a few words. */
  readonly title: string;
  /** Further variables of the service under attack. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Starts what the service needs, before the service. */
  readonly surround?: () => Promise<Surroundings>;
  /** Fills the service before the probe starts. */
  readonly prepare?: (service: Server) => Promise<void>;
  /** Sends the attack, and resolves with the last answer. It may return further figures. */
  readonly attack: (service: Server) => Promise<ReadonlyArray<Result> | undefined>;
  /** Maximum silence of `/healthz` that the attack may cause, in milliseconds; absent without a limit. */
  readonly maxFreezeMs?: number;
  /** The memory above idle, in bytes, that the attack may take in the service; absent without a limit. */
  readonly maxBytesAboveIdle?: number;
}
