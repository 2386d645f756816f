import { newEvent } from '#domain/shared/event.ts';
import type { StoreEvents } from '#domain/store/store.ts';
import { ids } from './tenants.ts';

export const storeCreated = (change: Partial<StoreEvents['StoreCreated']> = {}) =>
  newEvent('StoreCreated', {
    id: ids.store,
    projectId: ids.project,
    name: 'House rules',
    description: null,
    ...change,
  } satisfies StoreEvents['StoreCreated']);

export const storeDescribed = (name: string, description: string | null, id: string = ids.store) =>
  newEvent('StoreDescribed', { id, name, description });

export const storeFileAdded = (fileId: string, id: string = ids.store) =>
  newEvent('StoreFileAdded', { id, fileId, bytes: 120 });

export const storeFileRemoved = (
  fileId: string,
  reason: StoreEvents['StoreFileRemoved']['reason'] = 'requested',
  id: string = ids.store,
) => newEvent('StoreFileRemoved', { id, fileId, reason });

export const storeDeleted = (id: string = ids.store) => newEvent('StoreDeleted', { id });
