// An administrator's controls for one MCP server: test, turn on or off, change, delete.
import { Pencil, Power, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { AdminMcpServer } from '../../../../server/protocol/admin/mcp-server.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button, IconButton } from '../../ui/controls/button.tsx'
import { ConfirmDialog } from '../../ui/overlays/dialog.tsx'
import { useChangeMcpServer, useDeleteMcpServer, useTestMcpServer } from './api/mcp-servers.ts'
import { McpDialog } from './mcp-dialog.tsx'
import { McpTestResult } from './mcp-test-result.tsx'

/** Shown below a server in the list, for administrators. */
export function McpControls({ server }: { server: AdminMcpServer }) {
  const { t } = useTranslation()
  const test = useTestMcpServer()
  const change = useChangeMcpServer()
  const remove = useDeleteMcpServer()
  const [isEditing, setIsEditing] = useState(false)
  const [isDeleting, setIsDeleting] = useState(false)
  const { name } = server
  const isOff = server.state === 'off'
  const isStored = server.source === 'store'
  return (
    <>
      <div className="mt-2 flex items-center gap-1.5">
        <Button
          size="small"
          aria-label={t('mcp.testServer', { name })}
          disabled={test.isPending || server.needs_settings}
          onClick={() => test.mutate({ name })}
        >
          {t('mcp.test')}
        </Button>
        <IconButton
          icon={Power}
          size="small"
          label={t(isOff ? 'mcp.switchOn' : 'mcp.switchOff', { name })}
          disabled={change.isPending}
          onClick={() => change.mutate({ name, patch: { enabled: isOff } })}
        />
        {isStored && (
          <>
            <IconButton
              icon={Pencil}
              size="small"
              label={t('mcp.edit', { name })}
              onClick={() => setIsEditing(true)}
            />
            <IconButton
              icon={Trash2}
              size="small"
              label={t('mcp.remove', { name })}
              onClick={() => setIsDeleting(true)}
            />
          </>
        )}
      </div>
      <McpTestResult name={name} test={test} />
      {isEditing && <McpDialog server={server} onClose={() => setIsEditing(false)} />}
      <ConfirmDialog
        open={isDeleting}
        onOpenChange={setIsDeleting}
        title={t('mcp.removeTitle')}
        text={t('mcp.removeText')}
        confirm={t('mcp.remove', { name })}
        onConfirm={() => remove.mutate(name)}
      />
    </>
  )
}
