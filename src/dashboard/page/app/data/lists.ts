import { type Api, getAll } from '#dashboard/page/api/api.ts';
import type {
  AgentProfile,
  ApiKey,
  Flow,
  Instance,
  PhoneNumber,
  Project,
  Template,
} from '#dashboard/page/api/records.ts';
import { type Data, useData } from '#dashboard/page/app/data/use-data.ts';
import { maxProjectsRead } from '#dashboard/page/app/session/scope.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';

export interface ProjectItems<Item> {
  readonly items: ReadonlyArray<Item>;
  /** The number of projects that were not read, because there are too many. */
  readonly projectsLeft: number;
}

const maxConcurrentReads = 6;
const maxItems = 5_000;

export function useFlows(projects: ReadonlyArray<Project>): Data<ProjectItems<Flow>> {
  return useProjectItems<Flow>(projects, 'flows', 'flows', ['flow', 'project', 'instance']);
}

export function usePhoneNumbers(projects: ReadonlyArray<Project>): Data<ProjectItems<PhoneNumber>> {
  return useProjectItems<PhoneNumber>(projects, 'phone-numbers', 'phoneNumbers', ['phone-number', 'project']);
}

export function useAgentProfiles(projects: ReadonlyArray<Project>): Data<ProjectItems<AgentProfile>> {
  return useProjectItems<AgentProfile>(projects, 'agent-profiles', 'agentProfiles', [
    'agent-profile',
    'flow',
    'project',
  ]);
}

export function useApiKeys(projects: ReadonlyArray<Project>): Data<ProjectItems<ApiKey>> {
  return useProjectItems<ApiKey>(projects, 'keys', 'keys', ['key', 'project']);
}

export function useTemplates(): Data<{ readonly templates: ReadonlyArray<Template> }> {
  return useData('/v1/templates', { kinds: ['template', 'template-version'] });
}

export function useInstances(): Data<{ readonly items: ReadonlyArray<Instance>; readonly isWhole: boolean }> {
  const { api } = useSession();
  return useData('/v1/instances', { kinds: ['instance'] }, (signal) =>
    getAll<Instance>(api, '/v1/instances', 'instances', { maxItems, signal }),
  );
}

/** Reads the items of each project, a few projects at a time. */
function useProjectItems<Item>(
  projects: ReadonlyArray<Project>,
  path: string,
  member: string,
  kinds: ReadonlyArray<string>,
): Data<ProjectItems<Item>> {
  const { api } = useSession();
  const read = projects.slice(0, maxProjectsRead);
  const key = projects.length === 0 ? null : `${path} of ${read.map(({ id }) => id).join()}`;
  return useData(key, { kinds }, async (signal) => {
    const items = await readProjectItems<Item>(api, read, { path, member, signal });
    return { items, projectsLeft: projects.length - read.length };
  });
}

async function readProjectItems<Item>(
  api: Api,
  projects: ReadonlyArray<Project>,
  { path, member, signal }: { readonly path: string; readonly member: string; readonly signal: AbortSignal },
): Promise<ReadonlyArray<Item>> {
  const lists = new Array<ReadonlyArray<Item>>(projects.length).fill([]);
  let next = 0;
  const work = async () => {
    while (next < projects.length) {
      const index = next;
      next += 1;
      const address = `/v1/projects/${projects[index]?.id}/${path}`;
      lists[index] = (await getAll<Item>(api, address, member, { maxItems, signal })).items;
    }
  };
  await Promise.all(Array.from({ length: maxConcurrentReads }, work));
  return lists.flat();
}
