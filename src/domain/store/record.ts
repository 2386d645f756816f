import * as t from 'io-ts';
import { cuid, nullable, oneOf, text, timestamp } from '#domain/codecs/codecs.ts';

/** A knowledge store as it is given out. */
export const StoreRecord = t.type({
  id: cuid,
  name: text({ min: 1 }),
  description: nullable(text()),
  status: oneOf('ready'),
  createdAt: timestamp,
  updatedAt: timestamp,
});

export type StoreRecord = t.TypeOf<typeof StoreRecord>;
