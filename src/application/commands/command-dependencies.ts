import type { EndpointPlaces } from '#application/webhooks/endpoint-places.ts';
import type { PersonalData } from '#personal-data/personal-data.ts';
import type { Claims } from './claims.ts';
import type { Lookup } from './command.ts';
import type { ReadYourWrites } from './read-your-writes.ts';
import type { StreamWriter } from './stream-writer.ts';

/** The dependencies of commands. */
export interface CommandDependencies {
  readonly writer: StreamWriter;
  readonly claims: Claims;
  readonly endpointPlaces: EndpointPlaces;
  readonly lookup: Lookup;
  readonly personalData: PersonalData;
  /** The most stored bytes of one append. */
  readonly maxAppendBytes?: number;
  /** The most bytes of JSON in the filled schemas of one operation of an instance. */
  readonly maxFilledBytes?: number;
  /** Holds an answer until the read models show the appended events. */
  readonly readYourWrites: Pick<ReadYourWrites, 'wait'>;
}
