/** A setting that the import knows. In a place `[]` is any index. */
export interface KnownSettings {
  readonly places: ReadonlyArray<string>;
  /** `converted` into one of ours; `needless`, because the gateway does so anyway; `absent` in this release. */
  readonly kind: 'converted' | 'needless' | 'absent';
  /** Our setting if it is `converted`; else the reason. */
  readonly text: string;
}

const deployment = 'model_list[]';
const params = `${deployment}.litellm_params`;
const info = `${deployment}.model_info`;

function below(section: string, names: string): ReadonlyArray<string> {
  return names.split(' ').map((name) => (section === '' ? name : `${section}.${name}`));
}

/**
 * All settings that the import knows (https://docs.litellm.ai/docs/proxy/config_settings). docs/from-litellm.md shows
 * this table.
 */
export const knownSettings: ReadonlyArray<KnownSettings> = [
  {
    kind: 'converted',
    places: [`${deployment}.model_name`],
    text: 'a name in `models`; deployments of one name are its `targets`',
  },
  {
    kind: 'converted',
    places: [...below(params, 'model custom_llm_provider')],
    text: '`providers.*.kind` and `models.*.targets.*.model`, for the prefixes in the table of providers; `protocol` for `responses/` before the name at OpenAI',
  },
  { kind: 'converted', places: [`${params}.api_base`, `${params}.base_url`], text: '`providers.*.baseUrl`' },
  {
    kind: 'converted',
    places: [`${params}.api_key`],
    text: '`providers.*.apiKeyEnv`: the variable of `os.environ/NAME`, else a new one that you set to the key',
  },
  {
    kind: 'converted',
    places: [
      `${params}.litellm_credential_name`,
      'credential_list[].credential_name',
      'credential_list[].credential_values',
    ],
    text: 'as if the values of the credential were written in the deployment',
  },
  {
    kind: 'converted',
    places: [`${params}.organization`, `${params}.extra_headers`, `${params}.headers`],
    text: '`providers.*.headers`, of headers that hold no secrets',
  },
  { kind: 'converted', places: [`${params}.weight`], text: '`models.*.targets.*.weight`' },
  {
    kind: 'converted',
    places: [`${params}.order`, `${info}.order`],
    text: 'the lowest are `targets`, the others `fallbacks` in their order, of one order the highest weight first',
  },
  {
    kind: 'converted',
    places: [
      `${params}.num_retries`,
      `${params}.max_retries`,
      'router_settings.num_retries',
      'litellm_settings.num_retries',
    ],
    text: '`models.*.retries`, up to 10',
  },
  {
    kind: 'converted',
    places: [`${params}.timeout`, 'router_settings.timeout', 'litellm_settings.request_timeout'],
    text: '`headersMs`, `firstContentMs` and `idleMs` of `models.*.timeouts`: seconds there, milliseconds here; `totalMs` too, if it is longer than 600 s',
  },
  {
    kind: 'converted',
    places: [
      'input_cost_per_token',
      'output_cost_per_token',
      'cache_read_input_token_cost',
      'cache_creation_input_token_cost',
      'cache_creation_input_token_cost_above_1hr',
    ].flatMap((name) => [`${params}.${name}`, `${info}.${name}`]),
    text: '`inputPerMillion`, `outputPerMillion`, `cachedInputPerMillion`, `cacheWritePerMillion`, `cacheWriteHourPerMillion` of `models.*.targets.*.price`, times a million',
  },
  {
    kind: 'converted',
    places: [`${params}.input_cost_per_second`, `${info}.input_cost_per_second`],
    text: '`perMinute` of the price, for `mode: audio_transcription`, times 60',
  },
  {
    kind: 'converted',
    places: [`${params}.input_cost_per_character`, `${info}.input_cost_per_character`],
    text: '`perMillionCharacters` of the price, for `mode: audio_speech`, times a million',
  },
  { kind: 'converted', places: [`${info}.max_output_tokens`], text: '`models.*.targets.*.maxOutputTokens`' },
  {
    kind: 'converted',
    places: [`${info}.supports_reasoning`],
    text: '`models.*.targets.*.reasoning`, of models that are called with chat completions',
  },
  {
    kind: 'converted',
    places: [`${info}.mode`],
    text: '`models.*.targets.*.protocol` for `responses` at OpenAI; `providers.*.anyVoice` for `audio_speech`; nothing for `chat`, `embedding` and `audio_transcription`; other modes leave the deployment out',
  },
  {
    kind: 'converted',
    places: [`${info}.id`],
    text: 'nothing, but a fallback may name it',
  },
  {
    kind: 'converted',
    places: ['router_settings.fallbacks', 'litellm_settings.fallbacks'],
    text: '`models.*.fallbacks`: the targets of each named model, in order',
  },
  {
    kind: 'converted',
    places: ['router_settings.default_fallbacks', 'litellm_settings.default_fallbacks'],
    text: '`models.*.fallbacks` of each model without its own',
  },
  {
    kind: 'converted',
    places: ['router_settings.model_group_alias'],
    text: 'a further name in `models` with the same targets',
  },
  {
    kind: 'needless',
    places: ['litellm_settings.drop_params', `${params}.drop_params`],
    text: 'what a target of another protocol cannot take is left out and named in X-Switchyard-Ignored; on the same protocol the body passes as it came',
  },
  {
    kind: 'needless',
    places: ['router_settings.enable_pre_call_checks', 'router_settings.enable_pre_call_check'],
    text: 'a request that is too long for a target goes to the next one when the provider says so',
  },
  {
    kind: 'needless',
    places: below(
      info,
      'supports_vision supports_function_calling supports_tool_choice supports_parallel_function_calling supports_response_schema supports_system_messages supports_prompt_caching supports_pdf_input supports_audio_input supports_audio_output supports_web_search supports_native_streaming',
    ),
    text: 'the gateway asks the provider, which refuses what its model cannot do',
  },
  {
    kind: 'needless',
    places: below(info, 'db_model created_at created_by updated_at updated_by description version'),
    text: 'this only describes the deployment',
  },
  {
    kind: 'needless',
    places: ['credential_list[].credential_info'],
    text: 'this only describes the credential',
  },
  {
    kind: 'absent',
    places: [
      ...['rpm', 'tpm'].flatMap((name) => [`${params}.${name}`, `${deployment}.${name}`, `${info}.${name}`]),
      ...below(params, 'itpm otpm max_parallel_requests default_api_key_tpm_limit default_api_key_rpm_limit'),
      'router_settings.default_max_parallel_requests',
      'general_settings.max_parallel_requests',
      'general_settings.global_max_parallel_requests',
    ],
    text: 'a deployment has no limits of its own: limits.requestsPerMinute and limits.callsAtOnce hold for a project. LiteLLM also draws deployments by these numbers: write a weight instead',
  },
  {
    kind: 'absent',
    places: below(
      params,
      'temperature top_p top_k max_tokens max_completion_tokens seed stop presence_penalty frequency_penalty reasoning_effort thinking response_format user n num_ctx keep_alive extra_body cache_control_injection_points',
    ),
    text: 'the gateway adds no parameters to a request: clients send their own',
  },
  {
    kind: 'absent',
    places: [...below(params, 'stream_timeout'), 'router_settings.stream_timeout'],
    text: 'streams and whole answers have the same limits: see models.*.timeouts',
  },
  {
    kind: 'absent',
    places: below(params, 'max_budget budget_duration tags tag_regex region_name'),
    text: 'there are no budgets and no tags of deployments',
  },
  {
    kind: 'absent',
    places: below(
      params,
      'api_version azure_ad_token tenant_id client_id client_secret vertex_project vertex_location vertex_credentials aws_access_key_id aws_secret_access_key aws_session_token aws_region_name aws_role_name aws_session_name aws_profile_name',
    ),
    text: 'this belongs to a provider that the import knows no kind for',
  },
  {
    kind: 'absent',
    places: below(info, 'max_tokens max_input_tokens'),
    text: 'the length of a context is not configured: the provider judges it. For the limit of an answer write max_output_tokens',
  },
  {
    kind: 'absent',
    places: [
      ...below(
        info,
        'base_model access_groups team_id team_public_model_name tier supported_environments custom_tokenizer health_check_model health_check_timeout',
      ),
    ],
    text: 'there is nothing like it: a key of a project can call every model',
  },
  {
    kind: 'absent',
    places: ['router_settings', 'litellm_settings'].flatMap((section) =>
      below(section, 'context_window_fallbacks content_policy_fallbacks'),
    ),
    text: 'a fallback is asked after any failure, and also when a context is too long: write it as one of fallbacks if that is right',
  },
  {
    kind: 'absent',
    places: below(
      'router_settings',
      'routing_strategy_args allowed_fails allowed_fails_policy cooldown_time disable_cooldowns retry_policy model_group_retry_policy retry_after max_fallbacks optional_pre_call_checks deployment_affinity_ttl_seconds',
    ),
    text: 'retries, circuits and waits follow their own rules: see docs/providers.md#what-is-tried-again-and-where',
  },
  {
    kind: 'absent',
    places: below('litellm_settings', 'allowed_fails cooldown_time'),
    text: 'circuits follow their own rules: see docs/providers.md#what-is-tried-again-and-where',
  },
  {
    kind: 'absent',
    places: [
      ...below(
        'router_settings',
        'redis_host redis_port redis_password redis_url redis_db cache_responses cache_kwargs caching_groups client_ttl',
      ),
      ...below('litellm_settings', 'cache cache_params'),
    ],
    text: 'answers are not cached, and nodes share no state of routing',
  },
  {
    kind: 'absent',
    places: [
      ...below(
        'litellm_settings',
        'callbacks success_callback failure_callback service_callbacks callback_settings turn_off_message_logging redact_user_api_key_info langfuse_default_tags json_logs set_verbose telemetry',
      ),
      'callback_settings',
      ...below(
        'general_settings',
        'alerting alerting_threshold alert_types alert_to_webhook_url alerting_args spend_report_frequency background_health_checks health_check_interval health_check_details',
      ),
    ],
    text: 'metrics, logs, usage and webhooks are built in: see docs/operations.md',
  },
  {
    kind: 'absent',
    places: [
      ...below(
        'general_settings',
        'master_key custom_auth custom_key_generate custom_sso litellm_key_header_name enable_jwt_auth litellm_jwtauth enable_oauth2_auth oauth2_config_mappings enforce_user_param allow_user_auth user_api_key_cache_ttl admin_only_routes public_routes allowed_routes allowed_ips ui_access_mode litellm_license key_management_system key_management_settings use_azure_key_vault use_google_kms',
      ),
      ...below(
        'litellm_settings',
        'key_generation_settings default_team_settings default_internal_user_params upperbound_key_generate_params',
      ),
    ],
    text: 'keys are made with POST /v1/projects/{id}/keys or npm run keys',
  },
  {
    kind: 'absent',
    places: below(
      'general_settings',
      'database_url database_connection_pool_limit database_connection_timeout store_model_in_db supported_db_objects allow_requests_on_db_unavailable disable_prisma_schema_update store_prompts_in_spend_logs disable_spend_logs disable_spend_updates disable_reset_budget proxy_batch_write_at proxy_budget_rescheduler_min_time proxy_budget_rescheduler_max_time maximum_spend_logs_retention_period maximum_spend_logs_retention_interval',
    ),
    text: 'the stores are set by variables: see docs/configuration.md',
  },
  {
    kind: 'absent',
    places: [
      'litellm_settings.max_budget',
      'litellm_settings.budget_duration',
      'litellm_settings.max_internal_user_budget',
      'litellm_settings.max_end_user_budget',
    ],
    text: 'there are no budgets in this release',
  },
  {
    kind: 'absent',
    places: [
      'guardrails',
      'policies',
      'policy_attachments',
      'prompts',
      'litellm_settings.guardrails',
      'litellm_settings.modify_params',
      'litellm_settings.enable_json_schema_validation',
    ],
    text: 'the gateway does not judge or change contents',
  },
  {
    kind: 'absent',
    places: [
      'general_settings.completion_model',
      'general_settings.embedding_model',
      'general_settings.image_generation_model',
      'general_settings.moderation_model',
      'general_settings.infer_model_from_keys',
    ],
    text: 'a request names its model; the model auto is chosen by the section auto',
  },
  {
    kind: 'absent',
    places: [
      'general_settings.forward_client_headers_to_llm_api',
      'general_settings.forward_openai_org_id',
      'general_settings.use_x_forwarded_for',
      'general_settings.pass_through_endpoints',
      'general_settings.max_request_size_mb',
      'general_settings.max_response_size_mb',
    ],
    text: 'which headers pass and how large a body may be is fixed or set by variables: see docs/providers.md and docs/configuration.md',
  },
  {
    kind: 'absent',
    places: ['environment_variables'],
    text: 'the file of the gateway sets no variables: set them in the environment of the service',
  },
  {
    kind: 'absent',
    places: ['include'],
    text: 'other files are not read: import each of them',
  },
  {
    kind: 'absent',
    places: [
      ...below(
        params,
        'mock_response merge_reasoning_content_in_choices configurable_clientside_auth_params use_in_pass_through use_litellm_proxy cooldown_time model_info',
      ),
      ...below(
        'router_settings',
        'enable_tag_filtering tag_filtering_match_any tag_routing_prefix provider_budget_config routing_groups weights default_litellm_params default_priority polling_interval set_verbose debug_level',
      ),
      ...below('litellm_settings', 'mcp_aliases force_ipv4'),
      ...below('', 'mcp_servers mcp_tools search_tools vector_store_registry agent_list files_settings'),
      ...below('', 'finetune_settings assistant_settings default_vertex_config'),
    ],
    text: 'there is nothing like it',
  },
];

const byPlace = new Map(knownSettings.flatMap((setting) => setting.places.map((place) => [place, setting])));

/** The setting; undefined if the table does not have the place. */
export function settingAt(place: string): KnownSettings | undefined {
  return byPlace.get(place.replaceAll(/\[\d+\]/g, '[]'));
}
