import { print, type Result } from '#bench/measure.ts';
import { DocumentedOperations } from '#test/e2e/support/documented-operations.ts';
import { type EngineService, withServiceOn } from './service/engine-service.ts';

const clients = 12;
const wholeRounds = 40;
const quickRounds = 10;

/** How a resource is created and read. */
interface Kind {
  readonly create: string;
  readonly read: string;
  /** The parameter of the read that has its id. */
  readonly parameter: string;
  /** What replaces the example's members. */
  readonly members: (number: string) => object;
}

const kinds: ReadonlyArray<Kind> = [
  { create: 'create_flow', read: 'get_flow', parameter: 'flowId', members: () => ({}) },
  {
    create: 'create_phone_number',
    read: 'get_phone_number',
    parameter: 'phoneNumberId',
    members: (number) => ({ number, flowId: null }),
  },
  {
    create: 'create_agent_profile',
    read: 'get_agent_profile',
    parameter: 'agentProfileId',
    members: () => ({ flowIds: [], isDefault: false }),
  },
  { create: 'create_template', read: 'get_template', parameter: 'templateId', members: () => ({}) },
  { create: 'create_store', read: 'get_store', parameter: 'store_id', members: () => ({}) },
];

/**
 * Reads of a resource directly after it was created, by twelve clients at the same time, and how many of them find
 * nothing.
 * @param url of an EventStoreDB
 */
export function firstReads(url: string, isQuick: boolean): Promise<ReadonlyArray<Result>> {
  return withServiceOn(url, {}, (service) => readAll(service, isQuick ? quickRounds : wholeRounds));
}

async function readAll({ client }: EngineService, rounds: number): Promise<ReadonlyArray<Result>> {
  const operations = await DocumentedOperations.of(client);
  const { body: me } = await client.get<{ projectId: string }>('/v1/me');
  const statuses = new Map<number, number>();
  const createAndRead = async ({ create, read, parameter, members }: Kind, number: string) => {
    const { id } = await operations.call(create, { projectId: me.projectId }, members(number));
    const { status } = await client.send(operations.requestOf(read, { [parameter]: id }));
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  };
  const runClient = async (name: number) => {
    for (let round = 0; round < rounds; round += 1)
      for (const kind of kinds) await createAndRead(kind, `line ${name}-${round}`);
  };
  await Promise.all(Array.from({ length: clients }, (_, name) => runClient(name)));
  const listed = [...statuses].map(([status, count]) => `${count} answers ${status}`).join(', ');
  print(`First reads by ${clients} clients: ${listed}`);
  return [
    {
      what: 'resources that a read does not find directly after they were created',
      figure: statuses.get(404) ?? 0,
      unit: '',
      required: 0.5,
      aim: 0,
    },
  ];
}
