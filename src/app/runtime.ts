import type { StreamHistory } from '#application/history/stream-history.ts';
import type { Admission } from '#exchange/admission.ts';
import type { DebugLogger } from '#shared/logging/logger.ts';
import type { Config } from './config.ts';
import type { OpenedParts } from './opened-parts.ts';
import type { Stores } from './stores/open-stores.ts';

/** Every part of a node is built on it: its stores, its configuration, and what counts and closes. */
export interface Runtime extends Stores {
  readonly config: Config;
  readonly log: DebugLogger;
  readonly history: StreamHistory;
  readonly admission: Admission;
  readonly opened: OpenedParts;
}
