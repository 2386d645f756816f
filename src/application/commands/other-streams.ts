import * as E from 'fp-ts/lib/Either.js';
import type { Origin } from '#application/streams/stream-state.ts';
import type { StreamWriter } from '#application/streams/stream-writer.ts';
import type { PersonalData } from '#personal-data/personal-data.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { CommandEffects, RelatedStateLoader } from './command.ts';

/** Reads other streams for a decision. */
export function readsOf(writer: StreamWriter): Pick<RelatedStateLoader, 'load' | 'dataAt'> {
  return {
    load: async (entity, id) => {
      const { state, tenant } = await writer.load(entity, id);
      return { state, tenant };
    },
    dataAt: async (entity, id, revision) => (await writer.eventAt(entity, id, revision)).data,
  };
}

/** What a command may do outside its stream. */
export function effectsOf(writer: StreamWriter, personalData: PersonalData, origin: Origin): CommandEffects {
  return {
    load: readsOf(writer).load,
    append: async (write) => {
      const written = await writer.write({ ...write, origin });
      if (E.isRight(written)) return;
      const { code, detail, retryAfterSeconds, isOutage } = written.left;
      throw code === 'unavailable' ? new UnavailableError(detail, retryAfterSeconds, isOutage) : new Error(detail);
    },
    erasePersonalData: (subject) => personalData.erase(subject),
  };
}
