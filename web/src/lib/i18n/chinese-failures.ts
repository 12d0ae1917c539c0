// Why models, documents, deliveries and MCP servers fail, in Chinese, by the protocol's reasons.
import type { MODEL_FAILURES } from '../../../../server/protocol/failures/models.ts'
import type { StoredFailureReason } from '../../../../server/protocol/failures/stored.ts'

const CHECK = '请检查提供商地址和网络。'
export const models: Record<keyof typeof MODEL_FAILURES, string> = {
  model_answer_empty: '“{{model}}”的提供商返回了空响应。请检查 api_url 是否为模型 API 的地址。',
  model_answer_is_page: '“{{model}}”的提供商返回了一个网页。请检查 api_url 是否为模型 API 的地址。',
  model_answer_no_json:
    '“{{model}}”的提供商返回的不是 JSON 对象。请检查 api_url 是否为模型 API 的地址。',
  model_answer_no_stream:
    '“{{model}}”的提供商返回的不是事件流。请检查 api_url 是否为模型 API 的地址。',
  model_answer_unfinished: '模型没有完成回答就结束了。',
  model_call_unreadable: '模型写出的工具调用无法识别，正在请它重写。',
  model_context_exceeded:
    '对话太长，超出了“{{model}}”的上下文上限。请新建对话，或换用上下文更大的模型。',
  model_key_lost: '已保存的“{{model}}”的 API 密钥无法读取。请管理员在“设置 → 模型”中重新填写。',
  model_not_found:
    '提供商没有“{{model}}”这个模型，或地址有误（{{status}}）。请检查 api_url 和 upstream_model。',
  model_rate_limited: '对“{{model}}”的请求过于频繁，被提供商限流（{{status}}）。请稍后重试。',
  model_rate_limited_quota:
    '“{{model}}”在提供商处的配额已用完（{{status}}）。请换一个模型，或等待配额重置。',
  model_redirected: '“{{model}}”的地址被重定向（{{status}}）。请检查 api_url。',
  model_refused: '“{{model}}”拒绝了请求（{{status}}）。',
  model_refused_credit: '“{{model}}”在提供商处的账户余额不足（{{status}}）。请充值，或换一个模型。',
  model_stopped: '对“{{model}}”的请求已停止。',
  model_stream_broken: '回答尚未完成，与“{{model}}”的连接就断开了。',
  model_timeout: '“{{model}}”的提供商响应超时（{{status}}）。',
  model_timeout_silence: '“{{model}}”已有 {{seconds}} 秒没有任何响应。',
  model_unauthorized: '提供商拒绝了“{{model}}”的 API 密钥（{{status}}）。请在设置中检查密钥。',
  model_unavailable: '“{{model}}”的提供商出现故障（{{status}}）。请重试，或换一个模型。',
  model_unavailable_connection: `无法连接“{{model}}”：连接失败。${CHECK}`,
  model_unavailable_connection_closed: `无法连接“{{model}}”：连接被关闭。${CHECK}`,
  model_unavailable_connection_refused: `无法连接“{{model}}”：连接被拒绝。${CHECK}`,
  model_unavailable_connection_timed_out: `无法连接“{{model}}”：连接超时。${CHECK}`,
  model_unavailable_host_not_found: `无法连接“{{model}}”：暂时无法查询主机名。${CHECK}`,
  model_unavailable_host_unknown: `无法连接“{{model}}”：主机名不存在。${CHECK}`,
  model_unavailable_host_unreachable: `无法连接“{{model}}”：主机不可达。${CHECK}`,
  model_unavailable_insecure: `无法连接“{{model}}”：安全连接失败。${CHECK}`,
  model_unavailable_network: `无法连接“{{model}}”：网络不可达。${CHECK}`,
  model_unavailable_reported: '“{{model}}”的提供商报告了故障。请重试，或换一个模型。',
}

export const storedFailures: Record<StoredFailureReason, string> = {
  document_archive_unsupported: '不支持 {{extension}} 压缩包',
  document_archive_unknown: '不支持这种压缩包',
  document_binary: '这是二进制文件；支持纯文本、Markdown、PDF、DOCX、XLSX、PPTX、HTML 和 CSV',
  document_docx_damaged: 'DOCX 文件已损坏',
  document_office_damaged: '{{extension}} 文件已损坏',
  document_empty: '其中没有文字',
  document_lost: '上传的文件已丢失，请重新上传',
  document_not_indexed: '无法建立索引',
  document_not_what_its_name_says: '扩展名是 {{extension}}，内容却不是',
  document_page_too_deep: '网页嵌套过深',
  document_pdf_damaged: 'PDF 文件已损坏',
  document_pdf_protected: 'PDF 设有密码保护',
  document_reader_not_started: '无法启动读取程序',
  document_reading_stopped: '读取已取消',
  document_reading_too_slow: '读取用时过长',
  document_scanned: '其中没有文字（扫描件需要先做 OCR）',
  document_too_large: '文件过大',
  document_too_large_to_read: '文件过大，无法读取',
  document_unreadable: '无法读取这个文件',
  delivery_channel_kind_gone: '不再提供这种渠道',
  delivery_failed: '发送失败',
  delivery_mail_not_set_up: '服务器不再有 SMTP 设置',
  delivery_mail_refused: '邮件服务器拒收（{{status}}）',
  delivery_mail_unreachable: '邮件服务器无法连接或正忙',
  delivery_receiver_address_refused: '服务器不允许向接收方的地址发送',
  delivery_receiver_certificate_invalid: '接收方的证书无效',
  delivery_receiver_closed_connection: '接收方关闭了连接',
  delivery_receiver_host_unknown: '找不到接收方的主机名',
  delivery_receiver_refused_connection: '接收方拒绝了连接',
  delivery_receiver_timed_out: '接收方没有及时响应',
  delivery_receiver_unreachable: '无法连接接收方',
  delivery_refused: '接收方返回了 {{status}}',
  delivery_settings_unfit: '这个渠道的设置不再适用',
  mcp_command_not_found: '服务器上找不到它的启动命令',
  mcp_command_not_allowed: '没有权限运行它的启动命令',
  mcp_connection_failed: '连接失败或已断开',
  mcp_connection_refused: '它拒绝了连接',
  mcp_credentials_refused: '它拒绝了所用的凭据',
  mcp_ended: '它已退出',
  mcp_host_unknown: '它的主机名不存在',
  mcp_too_slow: '它没有及时响应',
}

/** Said after a text whose parameters hold these. */
export const additions = {
  detail: '提供商的说明：{{detail}}',
  next_model: '改用“{{next_model}}”。',
}
