import * as t from 'io-ts';
import { nullable, oneOf } from '#shared/codecs/choice.ts';

/** The events of a store's stream. */
export const storeEvents = {
  StoreCreated: t.type({ id: t.string, projectId: t.string, name: t.string, description: nullable(t.string) }),
  StoreDescribed: t.type({ id: t.string, name: t.string, description: nullable(t.string) }),
  StoreFileAdded: t.type({ id: t.string, fileId: t.string, bytes: t.number }),
  StoreFileRemoved: t.type({ id: t.string, fileId: t.string, reason: oneOf('requested', 'file-deleted') }),
  /** Its files are not deleted. */
  StoreDeleted: t.type({ id: t.string }),
};

export type StoreEvents = { [Type in keyof typeof storeEvents]: t.TypeOf<(typeof storeEvents)[Type]> };
