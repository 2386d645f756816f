import type { EventMetadata } from '#domain/shared/event.ts';
import { organizationCreated, projectCreated } from '#test/support/events/tenant-events.ts';
import { ids, tenants } from '#test/support/events/tenants.ts';
import type { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';
import { recorded, type ToldEvent } from './recorded-events.ts';

/** Puts events into a new stream of a store, as if commands had made them. */
export async function seed(
  store: AppendableEventStore,
  stream: string,
  events: ReadonlyArray<ToldEvent>,
  metadata: Partial<EventMetadata> = {},
): Promise<void> {
  const stored = recorded(stream, events, metadata).map(({ id, type, data, metadata }) => ({
    id,
    type,
    data: JSON.stringify(data),
    metadata: JSON.stringify(metadata),
  }));
  await store.append(stream, -1, stored)();
}

/** The projects and organizations of the story. */
export async function seedProjects(store: AppendableEventStore): Promise<void> {
  await seed(store, `organization-${ids.partner}`, [organizationCreated()], { projectId: null });
  for (const tenant of Object.values(tenants)) {
    const { projectId, organizationId } = tenant;
    await seed(store, `project-${projectId}`, [projectCreated(projectId, organizationId)], tenant);
  }
}
