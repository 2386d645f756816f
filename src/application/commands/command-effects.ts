import * as E from 'fp-ts/lib/Either.js';
import type { Origin } from '#application/streams/stream-state.ts';
import type { StreamWriter } from '#application/streams/stream-writer.ts';
import type { PersonalData } from '#personal-data/personal-data.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { CommandEffects } from './command.ts';

/** What a command does outside its stream, after its append. */
export function effectsOf(writer: StreamWriter, personalData: PersonalData, origin: Origin): CommandEffects {
  return {
    load: (entity, id) => writer.load(entity, id),
    append: async (write) => {
      const written = await writer.write({ ...write, origin });
      if (E.isRight(written)) return;
      const { code, detail, retryAfterSeconds, isOutage } = written.left;
      throw code === 'unavailable' ? new UnavailableError(detail, retryAfterSeconds, isOutage) : new Error(detail);
    },
    erasePersonalData: (subject) => personalData.erase(subject),
  };
}
