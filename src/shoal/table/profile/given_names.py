"""Given names that are common in one country or another: a few of each, enough to know a column of them.

Left out are those that are months, places, flowers or other words as often: April, Florence, Rose, Sofia.
"""

from __future__ import annotations

_LISTED = """
aaron abdul adam adrian agnes agnieszka ahmed ahmet aicha alain alan albert alberto alejandro aleksandra alessandro
alex alexander alexandra alexis alfred ali alice alicia amanda amelia amina amir amy ana anders andre andrea andreas
andrew andrzej angela anita anja ann anna anne annika anthony antoine anton antonio arthur astrid ayse barbara
beatriz ben benjamin bernard bernd bert bettina birgit bjorn björn bjørn brian brigitte bruno camille carla carlos
carmen carol caroline catherine cecilia charles chiara chloe chloé chris christian christine christopher clara
claude claudia clemens cristina céline dagmar daniel daniela david deborah denis dennis diana diego dieter dirk
dmitri dominik donald donna dora dorothea edith eduardo edward elena elif elisa elisabeth elizabeth ella elsa emil
emily emine emma emmanuel enrique eric erik erika ernst esther eva evelyn fatima fatma felix fernando finn francesca
francesco francisco francois frank franziska françois frederic friedrich fritz frédéric gabriel gabriela gabriele
gary georg george gerard gerhard gina giovanni giulia giuseppe gloria gonzalo gregory greta guillaume gunther gustav
günter hannah hans hassan heather heidi heike heinz helen helena helene helga henri henrik henry herbert hugo ian
ibrahim ida igor ilse ines ingrid irene irina isabel isabelle ivan jacob jacques jakob james jan jana jane janet
javier jean jennifer jens jeremy jessica jesus jim joachim joan joanna joao johan johann johanna johannes john jonas
jonathan jorge jose josef joseph joshua josé joão juan juana juergen julia julian juliane julie julien justin jörg
jürgen kai karen karin karl karsten katarzyna kate katharina kathleen katrin kenneth kevin khadija klaus konrad
kristin kurt lars laura laurent lea lena leo leon leonie lina linda lisa lothar louis louise luc luca lucas lucia
luis luisa luise lukas luke lydia léa magdalena malgorzata manfred manuel manuela marc marcel marcin marco marcus
margaret margarita margit maria marie marina mario marion mark marlene marta martha martin martina mary mateo
mateusz matthew matthias max maximilian mehmet melanie mercedes mia michael michal michel michelle miguel mike milan
mira miriam mohamed mohammed monica monika monique moritz muhammad mustafa nadia nadine nancy natalia natalie
nathalie nicolas nicole niklas nils nina noah nora norbert olaf olga oliver olivia olivier omar oscar oskar otto
pablo paolo pascal patricia patrick paul paula pedro peter petra philip philipp philippe pierre pilar piotr rachel
rafael raimund ralf ramon raquel raul rebecca regina reinhard renate rene ricardo richard rita robert roberto roland
rolf rosa ruben rudolf ruth ryan sabine sally salma samuel sandra sara sarah sebastian serge sergio sharon silke
silvia simon simone sophia sophie stanislaw stefan stefanie stephan stephanie stephen steven susan susanna susanne
sven svetlana sylvia sylvie tanja tatiana teresa theo theresa thierry thomas tim timothy tina tobias tom tomas
tomasz torsten udo ulrich ulrike ursula ute uwe valentina valerie vanessa vera veronica veronika victor viktor
vincent vladimir walter wei werner wilhelm william wolfgang xavier yasmin yusuf yves yvonne zoe zoé zoë ömer łukasz
"""
GIVEN_NAMES = frozenset(_LISTED.split())
