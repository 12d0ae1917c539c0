// What the demo model says in Traditional Chinese.
import type { DemoTexts } from './demo-texts.ts'

export const traditional: DemoTexts = {
  thinkingBefore: (names) => `展示規則認出了這個請求，對應的工具：${names}。`,
  thinkingTour: '展示模型對導覽瞭若指掌。',
  calling: (names) => `請稍候：${names}。`,
  thinkingAfter: '工具已經傳回結果，展示模型照實轉述。',
  result: (name) => `${name}：`,
  signature: '*我是內建的展示模型，不是語言模型：我只轉述工具的結果。*',
  thinkingPlain: '沒有任何展示規則符合這則訊息。',
  noTool: (names) =>
    `我是內建的展示模型，不是語言模型。這個請求需要的工具在這裡沒有啟用：${names}。`,
  introduction: `我是**內建的展示模型，不是語言模型**，只能用真實的工具回答幾個準備好的問題。說「導覽」就可以看完整的展示，也可以試試：

- 台北現在幾點？
- 12 * (3 + 4)
- 列出檔案（對話需要屬於一個專案）

想問別的問題，請新增真正的模型：任何相容 OpenAI 的介面，或本機的 Ollama。`,
  tour: {
    start: `這是**內建展示，不是語言模型**：下面的內容是事先準備的，但每一步都是真實的。

回答裡可以有表格：`,
    head: ['步驟', '由誰完成', '你會看到'],
    rows: [
      ['思考', '模型', '摺疊起來的思考過程'],
      ['行動', '工具', '輸入了什麼、得到了什麼'],
      ['修改', '工具，經你允許後', '差異對照，並可復原'],
    ],
    diagrams: '也可以有圖表：',
    flow: {
      question: '你的問題',
      model: '模型',
      needs: '需要資訊',
      tool: '工具',
      risky: '有風險',
      you: '你允許或拒絕',
      answer: '回答',
    },
    program: '接下來在這台伺服器的沙箱裡執行一段 Python：',
    plot: '一天的氣溫（°C）',
    plotted: '圖是這段程式畫的，展開這一步可以看到程式碼。',
    programFailed: '程式沒能在這裡執行。遇到這種情況，回答會說明原因並繼續。',
    change: '再來修改一下你的專案。修改之前你會先看到內容：允許或拒絕都可以。',
    changed: '檔案已寫入專案。在專案的**歷史**裡可以看到這次修改，也可以復原。',
    rejected: '你拒絕了這次修改，所以什麼都沒有改變。',
    withoutProject:
      '如果對話屬於某個專案，我還會提議修改一個檔案：修改前你會先看到內容，之後也可以復原。',
    end: '導覽到此結束。換成真正的模型後，用自己的話提問就行。',
    file: '# 導覽的檔案\n\n你允許了這次修改。可以在專案的歷史裡復原它。\n',
  },
}
