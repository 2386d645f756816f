import type { Load } from '#bench/http-processes/load.ts';
import { adminKey, type Server, sendLoad } from '#bench/http-processes/processes.ts';

const connections = 64;
const seconds = 2;

/** The contents of a posted version: about two kilobytes. */
export const newVersion = { flowSchema: { nodes: [{ id: 'start', say: 'x'.repeat(1_960) }] } };

/** Returns the load of reads of flows, 64 at the same time for two seconds. */
export function getLoad(server: Server, ids: ReadonlyArray<string>): Load {
  return {
    url: server.url,
    method: 'GET',
    paths: ids.map((id) => `/v1/flows/${id}`),
    headers: { authorization: `Bearer ${adminKey}` },
    body: null,
    connections,
    seconds,
  };
}

/** Returns the load of new versions of flows, 64 at the same time for two seconds. */
export function postLoad(server: Server, ids: ReadonlyArray<string>): Load {
  return {
    ...getLoad(server, ids),
    method: 'POST',
    paths: ids.map((id) => `/v1/flows/${id}/versions`),
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(newVersion),
  };
}

/** Reads flows. @returns answers per second */
export async function gets(server: Server, ids: ReadonlyArray<string>): Promise<number> {
  return (await sendLoad(getLoad(server, ids))).perSecond;
}

/** Writes versions. @returns answers per second */
export async function posts(server: Server, ids: ReadonlyArray<string>): Promise<number> {
  return (await sendLoad(postLoad(server, ids))).perSecond;
}
