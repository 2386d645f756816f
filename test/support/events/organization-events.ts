import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import type { StreamWriter } from '#application/streams/stream-writer.ts';
import { organization } from '#domain/organization/organization.ts';
import { project } from '#domain/project/project.ts';
import { newEvent } from '#domain/shared/event.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import type { ProcessTools } from '#process-engine/process.ts';

/** The origin of the events that processes react to in tests. */
export const origin = {
  actor: { keyId: 'key', keyType: 'admin' },
  requestId: 'request',
  correlationId: 'request',
  causationId: 'request',
};

/** Appends the creation of an organization. @returns the event's position */
export async function organizationCreated(writer: StreamWriter, id: string, partner = true): Promise<number> {
  const handled = await writer.write({
    entity: organization,
    id,
    origin,
    decide: () =>
      E.right({
        events: [newEvent('OrganizationCreated', { id, name: id, partner })],
        tenant: { organizationId: id, projectId: null, partnerId: null },
      }),
  });
  assert.ok(E.isRight(handled));
  return handled.right.events.at(-1)?.position ?? 0;
}

/** A reaction that appends a project for each organization. The project's id is the organization's after a `p`. */
export function makeProject({ data }: RecordedEvent, { write }: ProcessTools): Promise<void> {
  const organizationId = String(data.id);
  const id = `p${organizationId}`;
  return write({
    entity: project,
    id,
    decide: ({ state }) =>
      E.right({
        events: state === null ? [newEvent('ProjectCreated', { id, organizationId, name: 'First' })] : [],
        tenant: { organizationId, projectId: id, partnerId: null },
      }),
  });
}
