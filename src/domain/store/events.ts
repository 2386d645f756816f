import * as t from 'io-ts';
import { nullable } from '#domain/codecs/codecs.ts';

/** The events of a store's stream. */
export const storeEvents = {
  StoreCreated: t.type({ id: t.string, projectId: t.string, name: t.string, description: nullable(t.string) }),
  StoreDescribed: t.type({ id: t.string, name: t.string, description: nullable(t.string) }),
  StoreDeleted: t.type({ id: t.string }),
};

export type StoreEvents = { [Type in keyof typeof storeEvents]: t.TypeOf<(typeof storeEvents)[Type]> };
