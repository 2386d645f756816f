import type { Entity, EventOf } from '#domain/entity.ts';
import { happened } from '#domain/event.ts';
import type { StoreEvents } from './events.ts';
import type { StoreRecord } from './record.ts';

/** A knowledge store, or null before it was created. */
export type StoreState = { readonly record: StoreRecord; readonly deleted: boolean } | null;

type Decided = ReadonlyArray<EventOf<StoreEvents>>;

/** A knowledge store: a stream of its own, in a project. */
export const store: Entity<StoreState, StoreEvents> = {
  category: 'store',
  initial: null,
  streamKey: (id) => id,
  knows: (state) => state !== null,
  isLive: (state) => state !== null && !state.deleted,
  notFound: 'store-not-found',
  weigh: (state) => 2 * ((state?.record.name.length ?? 0) + (state?.record.description?.length ?? 0)),
  evolve: (state, event) => {
    switch (event.type) {
      case 'StoreCreated':
        return { record: newStoreRecord(event.data, event.metadata.time), deleted: false };
      case 'StoreDescribed':
        return state && { ...state, record: describedStoreRecord(state.record, event.data, event.metadata.time) };
      case 'StoreDeleted':
        return state && { ...state, deleted: true };
    }
  },
};

/** The record of a store that was just created. */
export function newStoreRecord({ id, name, description }: StoreEvents['StoreCreated'], time: string): StoreRecord {
  return { id, name, description, status: 'ready', createdAt: time, updatedAt: time };
}

/** The record of a store that was given another name and description. */
export function describedStoreRecord(
  record: StoreRecord,
  { name, description }: StoreEvents['StoreDescribed'],
  time: string,
): StoreRecord {
  return { ...record, name, description, updatedAt: time };
}

/** Makes a store with this id; nothing where it was made before, deleted since or not. */
export function storeMade(contents: StoreEvents['StoreCreated'], state: StoreState): Decided {
  return state === null ? [happened('StoreCreated', contents)] : [];
}

/** Gives a store another name and description; nothing where it has them, or there is none. */
export function storeDescribed({ id, name, description }: StoreEvents['StoreDescribed'], state: StoreState): Decided {
  if (state === null || state.deleted) return [];
  const same = state.record.name === name && state.record.description === description;
  return same ? [] : [happened('StoreDescribed', { id, name, description })];
}

/** Deletes a store; nothing where there is none. */
export function storeRemoved(id: string, state: StoreState): Decided {
  return store.isLive(state, id) ? [happened('StoreDeleted', { id })] : [];
}

/** The record of a store from its state. */
export function storeRecord(state: StoreState): StoreRecord {
  if (state === null) throw new Error('an answer about a store needs one');
  return state.record;
}
