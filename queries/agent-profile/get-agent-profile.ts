import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { AgentProfileRecord } from '#domain/agent-profile/record.ts';
import { cuid } from '#domain/codecs.ts';
import { examples } from '#domain/examples.ts';
import { get } from '#operations/operation.ts';
import { query } from '#operations/query.ts';
import { type AgentProfileDocument, agentProfiles } from '#projections/agent-profiles.ts';

export const getAgentProfile = query<{ agentProfileId: string }, AgentProfileDocument, AgentProfileRecord>({
  name: 'get_agent_profile',
  summary: 'Read an agent profile',
  group: 'Agent profiles',
  http: get('/v1/agent-profiles/:agentProfileId'),
  scope: 'agent-profiles:read',
  input: t.type({ agentProfileId: cuid }),
  output: AgentProfileRecord,
  failures: ['agent-profile-not-found'],
  example: { output: examples.agentProfile },
  reads: [agentProfiles.name],
  subject: { collection: agentProfiles.name, parameter: 'agentProfileId', notFound: 'agent-profile-not-found' },
  hasRevision: true,
  answer: ({ subject: { value } }) => E.right({ body: value.record, revision: value.revision }),
});
