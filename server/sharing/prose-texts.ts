// The words that Markdown leaves to whoever renders it, in every language of documents.
import type { AlertKind } from '../protocol/markdown/page-syntax.ts'
import type { DocumentLanguage } from './document-texts.ts'

export interface ProseTexts {
  alert: Record<AlertKind, string>
  /** The title of a foldable section without a summary. */
  details: string
  footnotes: string
  /** The name of the link from a footnote to its mark. */
  back: string
}

export const proseTexts: Record<DocumentLanguage, ProseTexts> = {
  en: {
    alert: {
      note: 'Note',
      tip: 'Tip',
      important: 'Important',
      warning: 'Warning',
      caution: 'Caution',
    },
    details: 'Details',
    footnotes: 'Footnotes',
    back: 'Back to the text',
  },
  'zh-CN': {
    alert: { note: '说明', tip: '提示', important: '重要', warning: '警告', caution: '小心' },
    details: '详情',
    footnotes: '脚注',
    back: '回到正文',
  },
  de: {
    alert: {
      note: 'Hinweis',
      tip: 'Tipp',
      important: 'Wichtig',
      warning: 'Warnung',
      caution: 'Vorsicht',
    },
    details: 'Details',
    footnotes: 'Fußnoten',
    back: 'Zurück zum Text',
  },
  es: {
    alert: {
      note: 'Nota',
      tip: 'Consejo',
      important: 'Importante',
      warning: 'Advertencia',
      caution: 'Precaución',
    },
    details: 'Detalles',
    footnotes: 'Notas al pie',
    back: 'Volver al texto',
  },
  fr: {
    alert: {
      note: 'Remarque',
      tip: 'Astuce',
      important: 'Important',
      warning: 'Avertissement',
      caution: 'Attention',
    },
    details: 'Détails',
    footnotes: 'Notes',
    back: 'Revenir au texte',
  },
  'pt-BR': {
    alert: {
      note: 'Nota',
      tip: 'Dica',
      important: 'Importante',
      warning: 'Aviso',
      caution: 'Cuidado',
    },
    details: 'Detalhes',
    footnotes: 'Notas de rodapé',
    back: 'Voltar ao texto',
  },
  ru: {
    alert: {
      note: 'Примечание',
      tip: 'Совет',
      important: 'Важно',
      warning: 'Предупреждение',
      caution: 'Осторожно',
    },
    details: 'Подробности',
    footnotes: 'Сноски',
    back: 'Назад к тексту',
  },
  ja: {
    alert: { note: 'メモ', tip: 'ヒント', important: '重要', warning: '警告', caution: '注意' },
    details: '詳細',
    footnotes: '脚注',
    back: '本文に戻る',
  },
  ko: {
    alert: { note: '참고', tip: '팁', important: '중요', warning: '경고', caution: '주의' },
    details: '자세히',
    footnotes: '각주',
    back: '본문으로 돌아가기',
  },
}
