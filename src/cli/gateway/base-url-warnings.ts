import type { GatewayConfiguration } from '#gateway/config/configuration.ts';
import { openAiCompatible } from '#gateway/providers/openai-compatible.ts';
import { type ProviderConfiguration, providerKindOf } from '#gateway/providers/provider-kinds.ts';
import { providerPrefixes } from './litellm/provider-prefixes.ts';

/** https://learn.microsoft.com/azure/foundry/openai/api-version-lifecycle */
const azureHost = /\.openai\.azure\.com$/;

/** Warns about each base URL that most likely ends too early or too late for what the gateway appends. */
export function baseUrlWarnings(providers: GatewayConfiguration['providers']): ReadonlyArray<string> {
  return Object.entries(providers).flatMap(([name, provider]) => {
    const fault = faultOf(provider);
    return fault === null ? [] : [`warning: /providers/${name}/baseUrl ${fault}`];
  });
}

function faultOf(provider: ProviderConfiguration): string | null {
  const { kind, address } = providerKindOf(provider);
  if (address === null || provider.baseUrl === undefined) return null;
  const url = new URL(provider.baseUrl);
  const path = url.pathname.replace(/\/+$/, '');
  const known = knownPath(kind, address.baseUrl, url);
  const at = (under: string) => `${url.origin}${under}${url.search === '' ? '' : '?…'}`;
  const advice = known === null ? `write its whole base URL, such as ${at('/v1')}` : `write ${at(known)}`;
  const appended = address.paths.find((each) => endsWith(path, each));
  if (appended !== undefined) {
    const before = path.split('/').slice(0, 1 - appended.split('/').length);
    const instead = before.length > 1 ? `write ${at(before.join('/'))}` : advice;
    return `ends with ${appended}, which the gateway appends, so it calls ${at(path + appended)}: ${instead}`;
  }
  if (path !== '' || known === '') return null;
  const [first = ''] = address.paths;
  const unless = known === null ? ", unless the provider's API has no path" : '';
  return `has no path, so the gateway calls ${at(first)}: ${advice}${unless}`;
}

/** The path that the provider at the host documents; null if it is not known. */
function knownPath(kind: string, usual: string, { host, hostname }: URL): string | null {
  if (kind === openAiCompatible.kind && azureHost.test(hostname)) return '/openai/v1';
  const ofKind = providerPrefixes.flatMap((each) => (each.kind === kind && each.baseUrl ? [each.baseUrl] : []));
  const found = [usual, ...ofKind].map((each) => new URL(each)).find((each) => each.host === host);
  return found === undefined ? null : found.pathname.replace(/\/$/, '');
}

/** In `ending`, `…` is any text of a segment. */
function endsWith(path: string, ending: string): boolean {
  const expected = ending.split('/').slice(1);
  const segments = path.split('/').slice(-expected.length);
  return expected.every((each, index) => {
    const [start = '', end] = each.split('…');
    const segment = segments[index] ?? '';
    return end === undefined ? segment === start : segment.startsWith(start) && segment.endsWith(end);
  });
}
