import { historyOfType } from '#domain/histories.ts';
import { isShownTo } from '#domain/history/audience.ts';
import type { Audience, Tenant } from '#domain/shared/access.ts';
import { streamKeyOf } from '#domain/shared/entity.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { UnreadableEventError } from '#event-store/recorded-event.ts';

/** Members that see the same events. */
export type AudienceGroup<Member> = ReadonlySet<Member>;

interface Group<Member> {
  readonly audience: Audience;
  readonly members: Set<Member>;
}

/**
 * Groups audiences that see the same events. The groups of an event are found by its tenant, however many other groups
 * there are.
 */
export class Audiences<Member> {
  readonly #groups = new Map<string, Group<Member>>();

  add(audience: Audience, member: Member): void {
    const name = nameOf(audience);
    const group = this.#groups.get(name) ?? { audience, members: new Set() };
    group.members.add(member);
    this.#groups.set(name, group);
  }

  delete(audience: Audience, member: Member): void {
    const name = nameOf(audience);
    const group = this.#groups.get(name);
    group?.members.delete(member);
    if (group?.members.size === 0) this.#groups.delete(name);
  }

  all(): ReadonlyArray<AudienceGroup<Member>> {
    return [...this.#groups.values()].map(({ members }) => members);
  }

  /** The groups that see the event; none for an event that this release cannot read. */
  shown(event: RecordedEvent): ReadonlyArray<AudienceGroup<Member>> {
    const listed = historyOfType(event.type);
    if (listed === null || this.#groups.size === 0) return [];
    try {
      const { data, stream, metadata } = event;
      const found = namesFor(metadata).flatMap((name) => this.#groups.get(name) ?? []);
      if (found.length === 0) return [];
      const { kind } = listed.resource(data, streamKeyOf(stream));
      return found.flatMap(({ audience, members }) => (isShownTo(audience, metadata, kind) ? [members] : []));
    } catch (error) {
      if (error instanceof UnreadableEventError) return [];
      throw error;
    }
  }
}

/** Names an audience. Audiences with the same name see the same events. */
function nameOf({ keyType, organizationId, projectId }: Audience): string {
  switch (keyType) {
    case 'admin':
      return 'admin';
    case 'project':
      return `project ${projectId}`;
    default:
      return `${keyType} ${organizationId}`;
  }
}

/** The names of the audiences that see the tenant's events. */
function namesFor({ organizationId, projectId, partnerId }: Tenant): ReadonlyArray<string> {
  return ['admin', `partner ${partnerId}`, `organization ${organizationId}`, `project ${projectId}`];
}
