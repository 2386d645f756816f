import type { StreamHistory } from '#application/history/stream-history.ts';
import type { ByteBudget } from '#exchange/byte-budget.ts';
import type { DebugLogger } from '#shared/logging/logger.ts';
import type { Config } from './config.ts';
import type { OpenedParts } from './opened-parts.ts';
import type { Stores } from './stores/open-stores.ts';

/** What every part of a node is built on: its stores, its configuration, and what counts and closes. */
export interface Runtime extends Stores {
  readonly config: Config;
  readonly log: DebugLogger;
  /** Past states of streams. */
  readonly history: StreamHistory;
  /** Counts the bytes that bodies hold in memory. */
  readonly bodies: ByteBudget;
  /** Counts the bytes of answers that clients have not taken yet. */
  readonly answers: ByteBudget;
  readonly opened: OpenedParts;
}
