/** What providers say of the operator's account in their errors: the provider, the text, and what no client may see of it. */
export const accountTexts: ReadonlyArray<readonly [string, string, ReadonlyArray<string>]> = [
  [
    'Anthropic',
    "This request would exceed your organization's rate limit of 30,000 input tokens per minute (org: 9d50ef40-6cc8-4ca6-9d35-1dc9cf26235c, model: claude-sonnet-4-6). For details, refer to: https://docs.claude.com/en/api/rate-limits.",
    ['9d50ef40-6cc8-4ca6-9d35-1dc9cf26235c'],
  ],
  [
    'Anthropic',
    'This request would exceed the rate limit for your organization (a22cf6e6-a940-4fff-8c4c-1580816ac7be) of 1,000,000 input tokens per minute.',
    ['a22cf6e6-a940-4fff-8c4c-1580816ac7be'],
  ],
  [
    'Anthropic',
    "This request would exceed your organization's (c26fc127-ba09-49d3-a086-a2f26380d5e7) rate limit.",
    ['c26fc127-ba09-49d3-a086-a2f26380d5e7'],
  ],
  [
    'Anthropic',
    'The workspace wrkspc_01JwQvzr7rXLA5AGx3HKfFUJ has reached its limit.',
    ['wrkspc_01JwQvzr7rXLA5AGx3HKfFUJ'],
  ],
  [
    'OpenAI',
    'Rate limit reached for gpt-4.1 in organization org-AbCdEfGhIjKlMnOpQrStUvWx on tokens per min (TPM): Limit 30000.',
    ['org-AbCdEfGhIjKlMnOpQrStUvWx'],
  ],
  ['OpenAI', 'Project `proj_AbCdEfGh12345678` does not have access to model `o3`', ['proj_AbCdEfGh12345678']],
  ['OpenAI', 'Incorrect API key provided: sk-proj-****************************abcd.', ['abcd']],
  [
    'Groq',
    'Rate limit reached for model `llama-3.3-70b-versatile` in organization `org_01kjh7p9n8f1qs6nz2bz77vy6b` service tier `on_demand` on tokens per day (TPD): Limit 100000, Used 97050, Requested 3619.',
    ['org_01kjh7p9n8f1qs6nz2bz77vy6b'],
  ],
  [
    'xAI',
    'Too many tokens for team e9fe19cb-de96-4c57-9ffb-2f1b9c631ce2 and model grok-4-0709.',
    ['e9fe19cb-de96-4c57-9ffb-2f1b9c631ce2'],
  ],
  [
    'xAI',
    "Your team doesn't have any credits. You can purchase some on https://console.x.ai/team/e9fe19cb-de96-4c57-9ffb-2f1b9c631ce2.",
    ['e9fe19cb-de96-4c57-9ffb-2f1b9c631ce2'],
  ],
  [
    'Moonshot',
    'Your account org-78cd08fac9804d20bac9a1f02fc1e6a5 / proj-a418892b55d04bbb929766740804aa41 <ak-f94zcrj6ax1111aqsyq1> request reached organization TPD rate limit, current: 1526210, limit: 1500000',
    ['78cd08fac9804d20bac9a1f02fc1e6a5', 'a418892b55d04bbb929766740804aa41', 'f94zcrj6ax1111aqsyq1'],
  ],
  [
    'OpenRouter with the error of another',
    '{"error":{"message":"Your account org-446a70bb2cc542e3960c0b7f05e4e0e1 <ak-f817m9q3k3wi11gjwbgi> is suspended","organization_id":"9d50ef40-6cc8-4ca6-9d35-1dc9cf26235c"}}',
    ['446a70bb2cc542e3960c0b7f05e4e0e1', 'f817m9q3k3wi11gjwbgi', '9d50ef40-6cc8-4ca6-9d35-1dc9cf26235c'],
  ],
  [
    'Gemini',
    "Quota exceeded for quota metric 'Generate Content API requests per minute' of service 'generativelanguage.googleapis.com' for consumer 'project_number:597142158745'.",
    ['597142158745'],
  ],
  [
    'Gemini',
    'Generative Language API has not been used in project 597142158745 before or it is disabled. Enable it by visiting https://console.developers.google.com/apis/api/generativelanguage.googleapis.com/overview?project=597142158745 then retry.',
    ['597142158745'],
  ],
  [
    'Vertex',
    "Permission 'aiplatform.endpoints.predict' denied on resource '//aiplatform.googleapis.com/projects/acme-prod-7/locations/us-central1/publishers/google/models/gemini-2.5-pro' (or it may not exist).",
    ['acme-prod-7'],
  ],
  ['Vertex', 'Account gateway@acme-prod-7.iam.gserviceaccount.com may not do this.', ['acme-prod-7', 'gateway@']],
  [
    'Azure',
    'Operation under Azure OpenAI resource https://acme-east.openai.azure.com/openai/deployments exceeded the call rate limit.',
    ['acme-east'],
  ],
  ['Azure', 'Access denied to acme-east.cognitiveservices.azure.com.', ['acme-east']],
  [
    'Azure',
    "The resource '/subscriptions/0dccdde6-f924-4f1b-bb3b-92ef846e0a5b/resourceGroups/acme-rg/providers/Microsoft.CognitiveServices' has no capacity.",
    ['0dccdde6-f924-4f1b-bb3b-92ef846e0a5b', 'acme-rg'],
  ],
  [
    'Azure',
    "The subscription '0dccdde6-f924-4f1b-bb3b-92ef846e0a5b' in tenant: 9d50ef40-6cc8-4ca6-9d35-1dc9cf26235c is disabled.",
    ['0dccdde6-f924-4f1b-bb3b-92ef846e0a5b', '9d50ef40-6cc8-4ca6-9d35-1dc9cf26235c'],
  ],
  [
    'Bedrock',
    'User: arn:aws:sts::308535385114:assumed-role/gateway-role-f8380435/session is not authorized to perform: bedrock:InvokeModel on resource: arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-3-haiku-20240307-v1:0 because no identity-based policy allows it',
    ['308535385114', 'gateway-role-f8380435'],
  ],
  ['Bedrock', 'Your account 308535385114 is not authorized to invoke this API operation.', ['308535385114']],
  ['Fireworks', 'Model accounts/acme-inc/deployments/d1 was not found.', ['acme-inc']],
  [
    'Cloudflare',
    'POST https://api.cloudflare.com/client/v4/accounts/023e105f4ecef8ad9ca31a8372d0c353/ai/v1 is limited',
    ['023e105f4ecef8ad9ca31a8372d0c353'],
  ],
  ['others', 'The account owner@example.org has no credit.', ['owner@example.org']],
];

/** What a client has sent or may know, and has to see again. */
export const ownTexts: ReadonlyArray<string> = [
  'No tool call with the id toolu_01A09q90qw90lq917835lq9 or call_VqA9s1Lk0PZbTj7x.',
  'Request 9d50ef40-6cc8-4ca6-9d35-1dc9cf26235c failed (request id: req_011CWtX9B9VeBpjm5oGD1BtQ).',
  'messages.0: invalid UUID 9d50ef40-6cc8-4ca6-9d35-1dc9cf26235c',
  'The file file-abc123 and the response resp_68af7e2b1c were not found.',
  'user_2abcdefghijklmnopqrstuvwx is no valid name of a user',
  "Invalid value for 'user': 'user-7'",
  'Unknown tool org_chart_lookup. Did you mean organization_lookup or project-plan?',
  'The model `deepcogito/cyborg-7b` does not exist.',
  "Invalid 'tools[3].function.name': 'project_user-profile_get' is too long.",
  'Cannot read /home/me/projects/switchyard/src/accounts/list.ts at accounts/42/edit',
  'This request would exceed the rate limit for your organization of 1000000 input tokens per minute.',
  "This model's maximum context length is 128000 tokens for organization 5 of 10",
  'Model accounts/fireworks/models/llama-v3p1-8b-instruct is not available.',
  'arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-3-haiku-20240307-v1:0 has no access',
  'See https://learn.microsoft.com/azure/ai-services/openai and https://console.groq.com/settings/billing',
  'Write to sales@example.org. The project has 12 teams; organization: Acme.',
];
