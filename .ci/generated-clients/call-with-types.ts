/** Calls the service with openapi-fetch and the types that openapi-typescript has made. */
import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { components, operations, paths } from './paths.ts';

type Schemas = components['schemas'];
type Flow = Schemas['Flow'];
type Read = operations['get_flow']['responses'][200]['content']['application/json'];
type Created = operations['create_flow']['responses'][201]['content']['application/json'];
type Listed = operations['list_flows']['responses'][200]['content']['application/json']['flows'][number];
type Same<Left, Right> = [Left] extends [Right] ? ([Right] extends [Left] ? true : never) : never;

export const oneType: [Same<Flow, Read>, Same<Flow, Created>, Same<Flow, Listed>] = [true, true, true];

const { API_URL: baseUrl = '', API_KEY: key = '' } = process.env;
const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${key}` } });
const { data: project } = await client.POST('/v1/projects', { body: { name: 'Typed' } });
// An answer is the resource or, with `dryRun=true`, what would happen.
assert.ok(project !== undefined && 'id' in project);
const type: Schemas['FlowType'] = 'graph';
const path = { projectId: project.id };
const { data: flow } = await client.POST('/v1/projects/{projectId}/flows', {
  params: { path },
  body: { name: 'Opening hours', flowSchema: {}, type },
});
assert.ok(flow !== undefined && 'id' in flow);
assert.equal(flow.type, type);
const { data: listed } = await client.GET('/v1/projects/{projectId}/flows', { params: { path } });
assert.deepEqual(
  listed?.flows.map(({ id }) => id),
  [flow.id],
);
const { error } = await client.GET('/v1/flows/{flowId}', { params: { path: { flowId: `c${'0'.repeat(24)}` } } });
const expected: Schemas['ProblemCode'] = 'flow-not-found';
assert.equal(error?.code, expected);
process.stdout.write('type-checks, makes, lists and misses a flow\n');
