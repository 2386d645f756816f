import type { Client, Reply } from '#test/support/service/client.ts';
import { expectStatus } from './expect.ts';

type Named = { readonly id: string };

/** The ids of a project with one resource of each kind. */
export interface ProjectResources {
  readonly projectId: string;
  readonly flowId: string;
  readonly versionId: string;
  readonly phoneNumberId: string;
  readonly agentProfileId: string;
  readonly keyId: string;
}

/** An operation on a project's resources that succeeds for a key with the scope. */
export interface OperationCase {
  readonly name: string;
  readonly scope: string;
  readonly success: number;
  readonly call: (client: Client, resources: ProjectResources) => Promise<Reply<unknown>>;
}

let count = 0;

/** Returns an unused phone number. */
export function freshNumber(): string {
  count += 1;
  return `line ${count}`;
}

export const profileContents = {
  name: 'Desk',
  flowIds: [],
  isDefault: false,
  supportedInputLanguages: ['en'],
  reasoningMode: 'fast',
  outputVoiceId: 'v',
};

/** Creates one resource of each kind in a project. */
export async function createResources(admin: Client, projectId: string): Promise<ProjectResources> {
  const path = `/v1/projects/${projectId}`;
  const flow = expectStatus(await admin.post<Named>(`${path}/flows`, { name: 'Flow', flowSchema: 1 }), 201);
  const added = await admin.post<Named>(`/v1/flows/${flow.id}/versions`, { flowSchema: 2 });
  const number = await admin.post<Named>(`${path}/phone-numbers`, { name: 'Number', number: freshNumber() });
  const profile = await admin.post<Named>(`${path}/agent-profiles`, profileContents);
  const key = await admin.post<Named>(`${path}/keys`, { name: 'Key', keyType: 'project', scopes: [] });
  return {
    projectId,
    flowId: flow.id,
    versionId: expectStatus(added, 201).id,
    phoneNumberId: expectStatus(number, 201).id,
    agentProfileId: expectStatus(profile, 201).id,
    keyId: expectStatus(key, 201).id,
  };
}

const row = (name: string, scope: string, success: number, call: OperationCase['call']): OperationCase => ({
  name,
  scope,
  success,
  call,
});

/** Every operation whose path names a resource. Deletions come last, a version before its flow. */
export const rows: ReadonlyArray<OperationCase> = [
  row('GET project', 'projects:read', 200, (c, p) => c.get(`/v1/projects/${p.projectId}`)),
  row('PATCH project', 'projects:write', 200, (c, p) => c.patch(`/v1/projects/${p.projectId}`, { name: 'New' })),
  row('GET keys', 'keys:read', 200, (c, p) => c.get(`/v1/projects/${p.projectId}/keys`)),
  row('POST keys', 'keys:write', 201, (c, p) =>
    c.post(`/v1/projects/${p.projectId}/keys`, { name: 'K', keyType: 'project', scopes: [] }),
  ),
  row('GET flows', 'flows:read', 200, (c, p) => c.get(`/v1/projects/${p.projectId}/flows`)),
  row('POST flows', 'flows:write', 201, (c, p) =>
    c.post(`/v1/projects/${p.projectId}/flows`, { name: 'F', flowSchema: 0 }),
  ),
  row('GET flow', 'flows:read', 200, (c, p) => c.get(`/v1/flows/${p.flowId}`)),
  row('PATCH flow', 'flows:write', 200, (c, p) => c.patch(`/v1/flows/${p.flowId}`, { name: 'G' })),
  row('PUT tier', 'operations:write', 200, (c, p) => c.put(`/v1/flows/${p.flowId}/tier`, { tier: 'pro' })),
  row('GET versions', 'flows:read', 200, (c, p) => c.get(`/v1/flows/${p.flowId}/versions`)),
  row('POST versions', 'flows:write', 201, (c, p) => c.post(`/v1/flows/${p.flowId}/versions`, { flowSchema: 3 })),
  row('GET version', 'flows:read', 200, (c, p) => c.get(`/v1/flow-versions/${p.versionId}`)),
  row('PATCH version', 'flows:write', 200, (c, p) => c.patch(`/v1/flow-versions/${p.versionId}`, { tag: 't' })),
  row('GET phone numbers', 'phone-numbers:read', 200, (c, p) => c.get(`/v1/projects/${p.projectId}/phone-numbers`)),
  row('POST phone numbers', 'phone-numbers:write', 201, (c, p) =>
    c.post(`/v1/projects/${p.projectId}/phone-numbers`, { name: 'N', number: freshNumber() }),
  ),
  row('GET phone number', 'phone-numbers:read', 200, (c, p) => c.get(`/v1/phone-numbers/${p.phoneNumberId}`)),
  row('PATCH phone number', 'phone-numbers:write', 200, (c, p) =>
    c.patch(`/v1/phone-numbers/${p.phoneNumberId}`, { name: 'M' }),
  ),
  row('PATCH phone number flow', 'phone-numbers:write', 200, (c, p) =>
    c.patch(`/v1/phone-numbers/${p.phoneNumberId}/flow`, { flowId: p.flowId }),
  ),
  row('GET agent profiles', 'agent-profiles:read', 200, (c, p) => c.get(`/v1/projects/${p.projectId}/agent-profiles`)),
  row('POST agent profiles', 'agent-profiles:write', 201, (c, p) =>
    c.post(`/v1/projects/${p.projectId}/agent-profiles`, profileContents),
  ),
  row('GET agent profile', 'agent-profiles:read', 200, (c, p) => c.get(`/v1/agent-profiles/${p.agentProfileId}`)),
  row('PUT agent profile', 'agent-profiles:write', 200, (c, p) =>
    c.put(`/v1/agent-profiles/${p.agentProfileId}`, { ...profileContents, flowIds: [p.flowId] }),
  ),
  row('POST rotate', 'keys:write', 200, (c, p) => c.post(`/v1/keys/${p.keyId}/rotate`)),
  row('POST activate', 'flows:write', 200, (c, p) => c.post(`/v1/flow-versions/${p.versionId}/activate`)),
  row('DELETE agent profile', 'agent-profiles:write', 200, (c, p) =>
    c.remove(`/v1/agent-profiles/${p.agentProfileId}`),
  ),
  row('DELETE phone number', 'phone-numbers:write', 200, (c, p) => c.remove(`/v1/phone-numbers/${p.phoneNumberId}`)),
  row('DELETE version', 'flows:write', 409, (c, p) => c.remove(`/v1/flow-versions/${p.versionId}`)),
  row('DELETE flow', 'flows:write', 204, (c, p) => c.remove(`/v1/flows/${p.flowId}`)),
  row('DELETE key', 'keys:write', 200, (c, p) => c.remove(`/v1/keys/${p.keyId}`)),
];

/** The operations whose path names no resource. */
export const rowsWithoutSubject: ReadonlyArray<OperationCase> = [
  row('GET projects', 'projects:read', 200, (c) => c.get('/v1/projects')),
  row('POST projects', 'projects:write', 201, (c) => c.post('/v1/projects', { name: 'Another' })),
  row('GET organizations', 'operations:write', 200, (c) => c.get('/v1/organizations')),
  row('POST organizations', 'operations:write', 201, (c) => c.post('/v1/organizations', { name: 'O', partner: false })),
  row('GET projections', 'operations:write', 200, (c) => c.get('/v1/projections')),
  row('POST retry', 'operations:write', 409, (c) => c.post('/v1/projections/flows/retry')),
  row('POST skip', 'operations:write', 409, (c) => c.post('/v1/projections/flows/skip', { eventId: 'none' })),
  row('GET processes', 'operations:write', 200, (c) => c.get('/v1/processes')),
  row('POST process retry', 'operations:write', 409, (c) => c.post('/v1/processes/detach-phone-numbers/retry')),
  row('POST process skip', 'operations:write', 409, (c) =>
    c.post('/v1/processes/detach-phone-numbers/skip', { eventId: 'none' }),
  ),
  row('POST rebuild', 'operations:write', 404, (c) => c.post('/v1/projections/none/rebuild')),
];
