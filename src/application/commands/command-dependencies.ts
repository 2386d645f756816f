import type { PersonalData } from '#personal-data/personal-data.ts';
import type { Claims } from './claims.ts';
import type { Lookup } from './command.ts';
import type { StreamWriter } from './stream-writer.ts';
import type { StreamWriteResult } from './streams/stream-write.ts';

/** What commands run on. */
export interface CommandDependencies {
  readonly writer: StreamWriter;
  readonly claims: Claims;
  readonly lookup: Lookup;
  readonly personalData: PersonalData;
  /** Stored bytes of one append at most. */
  readonly maxAppendBytes?: number;
  /** Bytes of JSON in the filled schemas of one operation of an instance at most. */
  readonly maxFilledBytes?: number;
  /** Waits, for `READ_YOUR_WRITES_TIMEOUT_MS` at most, until the read models show what was appended. */
  readonly waitForReadModels: (appended: StreamWriteResult<unknown>['events']) => Promise<void>;
}
