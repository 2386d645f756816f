import type { EventMetadata } from '#domain/shared/event.ts';
import { organizationCreated, projectCreated } from '#test/support/events/tenant-events.ts';
import { ids, tenants } from '#test/support/events/tenants.ts';
import type { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';
import { type ExampleEvent, recorded } from './recorded-events.ts';

/** Appends events to a new stream of a store, as commands do. */
export async function seed(
  store: AppendableEventStore,
  stream: string,
  events: ReadonlyArray<ExampleEvent>,
  metadata: Partial<EventMetadata> = {},
): Promise<void> {
  const stored = recorded(stream, events, metadata).map(({ id, type, data, metadata }) => ({
    id,
    type,
    data: JSON.stringify(data),
    metadata: JSON.stringify(metadata),
  }));
  await store.append(stream, -1, stored);
}

/** Appends the example organization and projects. */
export async function seedProjects(store: AppendableEventStore): Promise<void> {
  await seed(store, `organization-${ids.partner}`, [organizationCreated()], { projectId: null });
  for (const tenant of Object.values(tenants)) {
    const { projectId, organizationId } = tenant;
    await seed(store, `project-${projectId}`, [projectCreated(projectId, organizationId)], tenant);
  }
}
