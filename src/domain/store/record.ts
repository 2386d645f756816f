import * as t from 'io-ts';
import { cuid } from '#domain/codecs/id.ts';
import { timestamp } from '#domain/codecs/time.ts';
import { nullable, oneOf } from '#shared/codecs/choice.ts';
import { text } from '#shared/codecs/text.ts';

/** A knowledge store in the API. */
export const StoreRecord = t.type(
  {
    id: cuid,
    name: text({ min: 1 }),
    description: nullable(text()),
    status: oneOf('ready'),
    createdAt: timestamp,
    updatedAt: timestamp,
  },
  'Store',
);

export type StoreRecord = t.TypeOf<typeof StoreRecord>;
