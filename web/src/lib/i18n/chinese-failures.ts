// What can go wrong with a model, by machine name (and reason), in Chinese.
import type { FailureName } from './english-failures.ts'

export const failures: Record<FailureName, string> = {
  model_unauthorized: '提供商拒绝了“{{model}}”的 API 密钥（{{status}}）。请在设置中检查密钥。',
  model_refused: '“{{model}}”拒绝了请求（{{status}}）。',
  model_refused_credit: '“{{model}}”在提供商处的账户余额不足（402）。请充值，或换一个模型。',
  model_not_found: '提供商没有“{{model}}”这个模型，或地址有误（404）。请检查设置。',
  model_rate_limited: '对“{{model}}”的请求过于频繁，被提供商限流（429）。请稍后重试。',
  model_rate_limited_quota:
    '“{{model}}”在提供商处的配额已用完（429）。请换一个模型，或等待配额重置。',
  model_unavailable: '“{{model}}”的提供商出现故障。请重试，或换一个模型。',
  model_unavailable_connection: '无法连接“{{model}}”。请检查提供商地址和网络。',
  model_timeout: '“{{model}}”的提供商响应超时。',
  model_timeout_silence: '“{{model}}”已有 {{seconds}} 秒没有任何响应。',
  model_stream_broken: '回答尚未完成，与“{{model}}”的连接就断开了。',
  model_bad_answer: '“{{model}}”的地址返回的不是兼容 OpenAI 的响应。请在设置中检查地址。',
  model_context_exceeded:
    '对话太长，超出了“{{model}}”的上下文上限。请新建对话，或换用上下文更大的模型。',
  quoted: '提供商的说明：{{detail}}',
}
