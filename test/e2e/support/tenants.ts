import type { Client } from '#test/support/service/client.ts';
import { expectStatus } from './expect.ts';

export type KeyType = 'admin' | 'partner' | 'organization' | 'project';

type Named = { readonly id: string };
export type MadeKey = Named & { readonly key: string; readonly keyType: string; readonly scopes: string[] };

/** Creates an organization. @returns its id */
export async function newOrganization(admin: Client, partner: boolean): Promise<string> {
  return expectStatus(await admin.post<Named>('/v1/organizations', { name: 'O', partner }), 201).id;
}

/** Creates a project. @param organizationId default: that of the client's key @returns its id */
export async function newProject(maker: Client, organizationId?: string): Promise<string> {
  return expectStatus(await maker.post<Named>('/v1/projects', { name: 'P', organizationId }), 201).id;
}

/** @param scopes default: all that the type and the maker have */
export async function newKey(
  maker: Client,
  projectId: string,
  keyType: KeyType,
  scopes?: ReadonlyArray<string>,
): Promise<MadeKey> {
  const path = `/v1/projects/${projectId}/keys`;
  return expectStatus(await maker.post<MadeKey>(path, { name: 'K', keyType, scopes }), 201);
}

/** Creates a key. @param scopes default: all that the type and the client have @returns a client with the key */
export async function newHolder(
  maker: Client,
  projectId: string,
  keyType: KeyType,
  scopes?: ReadonlyArray<string>,
): Promise<Client> {
  return maker.as((await newKey(maker, projectId, keyType, scopes)).key);
}
