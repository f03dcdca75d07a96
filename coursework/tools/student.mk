# make lab   install what is needed into .venv, once, and open the notebook

lab: .venv/.done
	.venv/bin/jupyter lab NAME.ipynb

.venv/.done: requirements.txt
	python3 -m venv .venv
	.venv/bin/python -m pip install -q -r requirements.txt
	@touch $@

.PHONY: lab
