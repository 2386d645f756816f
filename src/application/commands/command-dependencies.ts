import type { PersonalData } from '#personal-data/personal-data.ts';
import type { Claims } from './claims.ts';
import type { Lookup } from './command.ts';
import type { StreamWriter } from './stream-writer.ts';
import type { StreamWriteResult } from './streams/stream-write.ts';

/** The dependencies of commands. */
export interface CommandDependencies {
  readonly writer: StreamWriter;
  readonly claims: Claims;
  readonly lookup: Lookup;
  readonly personalData: PersonalData;
  /** The most stored bytes of one append. */
  readonly maxAppendBytes?: number;
  /** The most bytes of JSON in the filled schemas of one operation of an instance. */
  readonly maxFilledBytes?: number;
  /** Waits, for `READ_YOUR_WRITES_TIMEOUT_MS` at most, until the read models show the appended events. */
  readonly waitForReadModels: (appended: StreamWriteResult<unknown>['events']) => Promise<void>;
}
