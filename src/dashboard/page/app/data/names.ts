import type { Api } from '#dashboard/page/api/api.ts';
import type { AuditEntry, Customer, Me, Organization, Project } from '#dashboard/page/api/records.ts';
import { namesInEntries } from '#dashboard/page/app/data/names-in-entries.ts';

/**
 * Maximum number of lookups at the same time; `maxLookups` is the total. After that, the page shows ids instead of
 * names.
 */
const maxConcurrentLookups = 4;
const maxLookups = 400;

/** Lists show this number of an id's characters. */
export const shortIdLength = 8;

const pathOfKind: Readonly<Record<string, string>> = {
  flow: '/v1/flows/',
  template: '/v1/templates/',
  instance: '/v1/instances/',
  'phone-number': '/v1/phone-numbers/',
  'agent-profile': '/v1/agent-profiles/',
  key: '/v1/keys/',
  project: '/v1/projects/',
  organization: '/v1/organizations/',
  store: '/v1/stores/',
};

/** The names of resources of which the page has only the ids. Each is looked up once and kept until the tab closes. */
export class Names {
  readonly #api: Api;
  readonly #known = new Map<string, string | null>();
  readonly #queue: Array<{ readonly kind: string; readonly id: string }> = [];
  readonly #listeners = new Set<() => void>();
  /** Only operators may read organizations one by one. */
  #mayReadOrganizations = false;
  #running = 0;
  #lookups = 0;
  #version = 0;
  projects: ReadonlyArray<Project> = [];
  organizations: ReadonlyArray<Organization> = [];
  customers: ReadonlyArray<Customer> = [];

  constructor(api: Api) {
    this.#api = api;
  }

  /** Loads the names of the tenants that this key may see. */
  async load(me: Me): Promise<void> {
    this.#mayReadOrganizations = me.keyType === 'admin';
    const isPartner = me.keyType === 'admin' || me.keyType === 'partner';
    const none =
      <Member extends string>(member: Member) =>
      () =>
        ({ [member]: [] }) as Record<Member, never[]>;
    const [projects, organizations, customers] = await Promise.all([
      this.#api.get<{ projects: ReadonlyArray<Project> }>('/v1/projects').catch(none('projects')),
      me.keyType === 'admin'
        ? this.#api
            .get<{ organizations: ReadonlyArray<Organization> }>('/v1/organizations')
            .catch(none('organizations'))
        : none('organizations')(),
      isPartner
        ? this.#api.get<{ customers: ReadonlyArray<Customer> }>('/v1/partner/customers').catch(none('customers'))
        : none('customers')(),
    ]);
    this.projects = projects.projects;
    this.organizations = organizations.organizations;
    this.customers = customers.customers;
    for (const { id, name } of this.projects) this.learn('project', id, name);
    for (const { id, name } of this.organizations) this.learn('organization', id, name);
    for (const { organizationId, name } of this.customers) this.learn('organization', organizationId, name);
    this.#changed();
  }

  /** Grows when names become known. */
  get version(): number {
    return this.#version;
  }

  /** Does not call the listeners. */
  learn(kind: string, id: string, name: string): void {
    this.#known.set(`${kind} ${id}`, name);
  }

  /**
   * Learns names from entries, whose resources then need no lookup.
   * @param areNewest these are the newest entries. Older entries only give the names of deleted resources, because
   * other names may have changed since
   */
  learnFrom(entries: ReadonlyArray<AuditEntry>, areNewest: boolean): void {
    const learned = namesInEntries(entries).filter(({ isDeleted, name }) => isDeleted || (areNewest && name !== null));
    for (const { kind, id, name } of learned) {
      const key = `${kind} ${id}`;
      this.#known.set(key, name ?? this.#known.get(key) ?? null);
    }
    if (learned.length > 0) this.#changed();
  }

  /** The name; null if it is not known yet or this key may not read it. */
  of(kind: string, id: string): string | null {
    const found = this.#known.get(`${kind} ${id}`);
    if (found === undefined) this.#lookUp(kind, id);
    return found ?? null;
  }

  /** The name, or the first characters of the id. */
  shown(kind: string, id: string): string {
    return this.of(kind, id) ?? id.slice(0, shortIdLength);
  }

  /** Returns a project's name after its organization's, because many customers' projects have the same name. */
  ofProject(id: string): string {
    const project = this.projects.find((each) => each.id === id);
    const organization = project === undefined ? null : this.#known.get(`organization ${project.organizationId}`);
    return organization ? `${organization}, ${this.shown('project', id)}` : this.shown('project', id);
  }

  /** @returns a function that removes the listener */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #lookUp(kind: string, id: string): void {
    this.#known.set(`${kind} ${id}`, null);
    if (pathOfKind[kind] === undefined || this.#lookups >= maxLookups) return;
    if (kind === 'organization' && !this.#mayReadOrganizations) return;
    this.#lookups += 1;
    this.#queue.push({ kind, id });
    this.#work();
  }

  #work(): void {
    while (this.#running < maxConcurrentLookups) {
      const next = this.#queue.shift();
      if (next === undefined) return;
      this.#running += 1;
      void this.#read(next.kind, next.id).finally(() => {
        this.#running -= 1;
        this.#work();
      });
    }
  }

  async #read(kind: string, id: string): Promise<void> {
    try {
      const record = await this.#api.get<{ name?: string; number?: string }>(`${pathOfKind[kind]}${id}`);
      const name = kind === 'phone-number' ? record.number : record.name;
      if (name === undefined) return;
      this.learn(kind, id, name);
      this.#changed();
    } catch {
      // The resource is deleted, or this key may not read it. The page shows the id.
    }
  }

  #changed(): void {
    this.#version += 1;
    for (const listener of [...this.#listeners]) listener();
  }
}
