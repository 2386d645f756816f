import type { GatewayConfiguration } from '#gateway/config/configuration.ts';
import { type ProviderConfiguration, providerKindOf } from '#gateway/providers/provider-kinds.ts';

/**
 * Hosts whose documented base URL has no path: https://api-docs.deepseek.com/ and
 * https://docs.perplexity.ai/api-reference/chat-completions-post
 */
const hostsWithoutPath = new Set(['api.deepseek.com', 'api.perplexity.ai']);

/** Returns a warning for each base URL that most likely ends too early or too late for what the gateway appends. */
export function baseUrlWarnings(providers: GatewayConfiguration['providers']): ReadonlyArray<string> {
  return Object.entries(providers).flatMap(([name, provider]) => {
    const fault = faultOf(provider);
    return fault === null ? [] : [`warning: /providers/${name}/baseUrl ${fault}`];
  });
}

function faultOf(provider: ProviderConfiguration): string | null {
  const { address } = providerKindOf(provider);
  if (address === null || provider.baseUrl === undefined) return null;
  const url = new URL(provider.baseUrl);
  const path = url.pathname.replace(/\/+$/, '');
  const defaultPath = new URL(address.baseUrl).pathname;
  const at = (under: string) => `${url.origin}${under}${url.search === '' ? '' : '?…'}`;
  const appended = address.paths.find((each) => endsWith(path, each));
  if (appended !== undefined) {
    const before = path.split('/').slice(0, 1 - appended.split('/').length);
    const instead = before.join('/') || defaultPath;
    return `ends with ${appended}, which the gateway appends, so it calls ${at(path + appended)}: write ${at(instead)}`;
  }
  if (path !== '' || defaultPath === '/' || hostsWithoutPath.has(url.hostname)) return null;
  const [first = ''] = address.paths;
  return `has no path, so the gateway calls ${at(first)}: write ${at(defaultPath)}, unless the provider's API has no version in its path`;
}

/** Whether a path ends with another one, in which `…` is any text of a segment. */
function endsWith(path: string, ending: string): boolean {
  const expected = ending.split('/').slice(1);
  const segments = path.split('/').slice(-expected.length);
  return expected.every((each, index) => {
    const [start = '', end] = each.split('…');
    const segment = segments[index] ?? '';
    return end === undefined ? segment === start : segment.startsWith(start) && segment.endsWith(end);
  });
}
